/* thread.c: what the runtime keeps for each thread, and frees when the thread ends. */

static _Thread_local Thread thread_state;
static pthread_key_t thread_key; /* set by whoever puts something into thread_state */

static void tf_thread_free(struct TfThread *thread);

static void thread_free(void *owned) {
  Thread *thread = owned;
  free(thread->last_body);
  thread->last_body = NULL;
  thread->n_last_body = 0;
  tf_thread_free(thread->tf);
  thread->tf = NULL;
}
