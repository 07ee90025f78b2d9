/* pool_stress.c: many threads run jobs on the pool at once, and forked children too; test_sanitizers.py compiles it with
 * sanitizers. Exit code 0: every piece of every job ran exactly once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* All that the pool wants of Python. */
#define PyErr_Clear() ((void)0)
static void *shared_find(const char *key, size_t bytes);
static bool in_child;
static bool is_forked_child(void) { return in_child; }
#include "pool.c"

static Pool memory;
static void *shared_find(const char *key, size_t bytes) {
  (void)key;
  return bytes == sizeof memory ? &memory : NULL;
}

enum { CALLERS = 4, JOBS = 2000, PIECES = 37 };

static void mark(int64_t from, int64_t to, void *state) {
  int *times = state; /* no atomics: the sanitizer sees a piece that two threads run */
  for (int64_t i = from; i < to; i++)
    times[i]++;
}

static void *caller(void *wrong) {
  for (int job = 0; job < JOBS; job++) {
    int times[PIECES] = {0};
    pool_run(2 + job % 4, 1, PIECES, mark, times);
    for (int i = 0; i < PIECES; i++)
      *(int *)wrong += times[i] != (i > 0);
  }
  return NULL;
}

static int all_callers(void) {
  pthread_t threads[CALLERS];
  int wrong[CALLERS] = {0}, all = 0;
  for (int i = 0; i < CALLERS; i++)
    pthread_create(&threads[i], NULL, caller, &wrong[i]);
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(threads[i], NULL);
    all += wrong[i];
  }
  return all;
}

int main(int argc, char **argv) {
  int wrong = 0, status = 0;
  bool forks = argc > 1 && argv[1][0] == 'f';
  pool_find();
  memory.most_threads = 3; /* whatever the machine has */
  caller(&wrong);
  if (forks && fork() == 0) { /* its parent's threads are gone: it works alone */
    in_child = true;
    caller(&wrong);
    _exit(wrong != 0);
  }
  if (forks && (wait(&status) < 0 || status != 0))
    wrong++;
  wrong += all_callers();
  printf("%d wrong, %d threads\n", wrong, memory.n_threads);
  return wrong != 0 || memory.n_threads != 3;
}
