/* buffer.c: memory for blocks, from a pool that each thread keeps.
 *
 * In the steady state nothing is allocated: a call takes the buffers that the one before it left.
 */

/* The head of a piece of memory; the elements follow behind it, at 64 bytes. */
struct TcBuffer {
  struct TcBuffer *next; /* in the pool */
  size_t capacity_bytes;
  int count; /* variables that hold it */
};
enum { BUFFER_HEAD_BYTES = 64, BUFFER_LEAST_BYTES = 4096, POOL_MOST_BYTES = 1 << 24 };

typedef struct BufferPool {
  struct TcBuffer *free; /* last used first: it is still in the cache */
  size_t free_bytes;
} BufferPool;

static _Thread_local BufferPool buffer_pool;
static pthread_key_t pool_key; /* its destructor frees the pool of a thread that ends */
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static void pool_free(void *pool) {
  BufferPool *own = pool;
  for (struct TcBuffer *next, *at = own->free; at; at = next) {
    next = at->next;
    free(at);
  }
  own->free = NULL;
  own->free_bytes = 0;
}

static void pool_key_make(void) { pthread_key_create(&pool_key, pool_free); }

static struct TcBuffer *buffer_new(size_t bytes) {
  for (struct TcBuffer **link = &buffer_pool.free; *link; link = &(*link)->next) {
    struct TcBuffer *buffer = *link;
    if (buffer->capacity_bytes < bytes)
      continue;
    *link = buffer->next;
    buffer_pool.free_bytes -= buffer->capacity_bytes;
    buffer->count = 1;
    return buffer;
  }
  if (bytes > SIZE_MAX / 2)
    return NULL;
  pthread_once(&pool_once, pool_key_make);
  pthread_setspecific(pool_key, &buffer_pool);
  size_t capacity = bytes < BUFFER_LEAST_BYTES ? BUFFER_LEAST_BYTES : (bytes + 63) / 64 * 64;
  struct TcBuffer *buffer = aligned_alloc(64, BUFFER_HEAD_BYTES + capacity);
  if (!buffer)
    return NULL;
  buffer->capacity_bytes = capacity;
  buffer->count = 1;
  return buffer;
}

static inline void *buffer_data(struct TcBuffer *buffer) {
  return (char *)buffer + BUFFER_HEAD_BYTES;
}

void tc__free_buffer(struct TcBuffer *buffer) {
  if (--buffer->count > 0)
    return;
  if (buffer_pool.free_bytes + buffer->capacity_bytes > POOL_MOST_BYTES) {
    free(buffer);
    return;
  }
  buffer->next = buffer_pool.free;
  buffer_pool.free = buffer;
  buffer_pool.free_bytes += buffer->capacity_bytes;
}

bool tc_block_copy(TcCall *tc, TcBlock *to, const TcBlock *from) {
  (void)tc;
  TcBlock value = *from;
  if (value.buffer)
    value.buffer->count++;
  tc_block_drop(to);
  *to = value;
  return true;
}
