/* variable.c: what tensor variables of generated code own: handles, of either framework, and
 * memory.
 *
 * The variables' functions are inline and know neither the call nor its lane, and one process (even
 * one call, while a dispatch mode of torch runs Python) may use both frameworks. So the value says
 * itself whose it is: handles are aligned, and one of TensorFlow carries its lowest bit set. That
 * is one test when something is freed, and no state to keep right.
 */

static inline bool is_tf(const void *handle) { return ((uintptr_t)handle & 1) != 0; }
static inline void *tf_tag(TfHandle *handle) { return handle ? (char *)handle + 1 : NULL; }
static inline TfHandle *tf_untag(void *handle) {
  return handle ? (TfHandle *)(void *)((char *)handle - 1) : NULL;
}

static void handle_free(void *handle) {
  if (is_tf(handle))
    tf.delete_handle(tf_untag(handle));
  else
    torch.delete_handle(handle);
}

void tc__tensor_free(TcTensor *var) {
  if (var->buffer)
    buffer_free(var->buffer);
  if (var->handle && !var->origin)
    handle_free(var->handle);
  *var = (TcTensor){0};
}

/* Of an operation of the wheel. */
static void set(TcTensor *out, void *handle) {
  tc_drop(out);
  out->handle = handle;
}

/* Another handle of the same tensor; NULL: no memory. */
static void *handle_copy(const TcCall *tc, void *handle) {
  void *copy = NULL;
  if (is_tf(handle))
    return tf_tag(tf.share_handle(tf_untag(handle), tc->thread->tf->status));
  return torch.new_handle(handle, &copy) == 0 ? copy : NULL;
}

/* Memory is shared; a handle that was made over it stays where it is. */
bool tc_copy(TcCall *tc, TcTensor *to, const TcTensor *from) {
  TcTensor copy = *from;
  if (to == from)
    return true;
  if (copy.buffer) {
    copy.buffer->count++;
    if (!copy.origin)
      copy.handle = NULL;
  } else if (copy.handle && !copy.origin && !(copy.handle = handle_copy(tc, from->handle))) {
    return raise_internal(tc, "no new handle");
  }
  tc_drop(to);
  *to = copy;
  return true;
}
