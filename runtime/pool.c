/* pool.c: a few parked threads for the blocks of a call, where the framework has none to lend.
 *
 * One pool per process, whatever the number of modules. Threads are started when a call first wants
 * them and sleep between calls. A call that finds the pool taken, and a process that can't start
 * threads or is a forked child, runs its blocks on the thread it came on: nobody ever waits for a
 * thread that sleeps, or is not there.
 */

enum { POOL_MOST_THREADS = 63 };
static const size_t pool_stack_bytes = 1 << 20;
#define POOL_KEY "tensorc.runtime.pool.2"

typedef struct Pool {
  bool ready; /* mutex and conditions are initialized; guarded by the GIL */
  int most_threads;
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  /* Under the lock. */
  bool busy;     /* with the job below */
  int n_threads; /* that exist */
  int wanted;    /* of them, that may still join */
  int joined;    /* that work on it */
  /* The job: written under the lock before anybody is woken. */
  void (*run)(int64_t from, int64_t to, void *state);
  void *state;
  int64_t end;
  int64_t next; /* atomic: the first piece that nobody took */
} Pool;

static Pool *pool; /* NULL: not there */

static void pool_init(Pool *p) {
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  p->busy = false;
  p->n_threads = p->wanted = p->joined = 0;
}

static int count_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Needs the GIL. Without memory there is no pool. */
static void pool_find(void) {
  Pool *found = pool ? pool : shared_find(POOL_KEY, sizeof *found);
  PyErr_Clear();
  if (!found || pool)
    return;
  if (!found->ready) {
    pool_init(found);
    int cpus = count_cpus();
    found->most_threads = cpus > POOL_MOST_THREADS ? POOL_MOST_THREADS : cpus - 1;
    found->ready = true;
  }
  pool = found;
}

static void pool_work(Pool *p) {
  for (int64_t i; (i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED)) < p->end;)
    p->run(i, i + 1, p->state);
}

static void *pool_thread(void *argument) {
  Pool *p = argument;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->wanted == 0)
      pthread_cond_wait(&p->wake, &p->lock);
    p->wanted--;
    p->joined++;
    pthread_mutex_unlock(&p->lock);
    pool_work(p);
    pthread_mutex_lock(&p->lock);
    if (--p->joined == 0)
      pthread_cond_signal(&p->done);
  }
  return NULL;
}

/* Under the lock. Signals are for the threads that were there before. */
static void pool_start_threads(Pool *p, int n) {
  sigset_t all, before;
  pthread_attr_t attributes;
  if (p->n_threads >= n || pthread_attr_init(&attributes) != 0)
    return;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, pool_stack_bytes);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  while (p->n_threads < n && pthread_create(&thread, &attributes, pool_thread, p) == 0) {
    pthread_setname_np(thread, "tensorc"); /* it never ends */
    p->n_threads++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

/* run(i, i + 1, state) for each i in [from, to), on this thread and up to `workers` - 1 of the
 * pool. Returns when all are done. */
static void pool_run(int workers, int64_t from, int64_t to,
                     void (*run)(int64_t from, int64_t to, void *state), void *state) {
  Pool *p = pool;
  int helpers = workers - 1;
  if (!p || p->most_threads == 0 || helpers < 1 || is_forked_child()) {
    run(from, to, state);
    return;
  }
  pthread_mutex_lock(&p->lock);
  if (p->busy) {
    pthread_mutex_unlock(&p->lock);
    run(from, to, state);
    return;
  }
  if (helpers > p->most_threads)
    helpers = p->most_threads;
  pool_start_threads(p, helpers);
  p->busy = true;
  p->run = run;
  p->state = state;
  p->end = to;
  __atomic_store_n(&p->next, from, __ATOMIC_RELAXED);
  p->wanted = helpers < p->n_threads ? helpers : p->n_threads;
  for (int i = 0; i < p->wanted; i++)
    pthread_cond_signal(&p->wake);
  pthread_mutex_unlock(&p->lock);
  pool_work(p);
  pthread_mutex_lock(&p->lock);
  p->wanted = 0; /* who did not wake up by now need not */
  while (p->joined > 0)
    pthread_cond_wait(&p->done, &p->lock);
  p->busy = false;
  pthread_mutex_unlock(&p->lock);
}
