/* fork.c: whether this process is the forked child of one that had a module of ours.
 *
 * The parent may have used the framework's threads, or ours: none of them came along, and whoever
 * waits for one waits for ever. So a child examines no recipe (what the parent or the user's cache
 * knows still holds) and computes on the thread that a call came on; the framework's own kernels
 * run as they do under eager.
 */

typedef struct Fork {
  bool ready; /* the handler is registered; guarded by the GIL */
  bool child;
} Fork;

static Fork *process_fork; /* NULL: not there */
#define FORK_KEY "tensorc.runtime.fork.1"

static void fork_child(void) { process_fork->child = true; }

static bool is_forked_child(void) { return process_fork && process_fork->child; }

/* When a module is imported, long before it is called. False: an exception is set. */
static bool fork_watch(void) {
  Fork *found = shared_find(FORK_KEY, sizeof *found);
  if (!found)
    return PyErr_Occurred() ? false : PyErr_NoMemory() != NULL;
  process_fork = found;
  if (!found->ready && pthread_atfork(NULL, NULL, fork_child) != 0)
    return PyErr_NoMemory() != NULL;
  found->ready = true;
  return true;
}
