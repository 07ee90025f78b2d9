/* buffer.c: memory for intermediate results, from a cache that each thread keeps.
 *
 * In the steady state nothing is allocated: a call takes the buffers that the one before it left,
 * up to CACHE_MOST_BYTES of them.
 */

/* The head of a piece of memory; the elements follow behind it, at 64 bytes. */
struct TcBuffer {
  struct BufferCache *cache; /* of the thread that took it, which also gives it back */
  struct TcBuffer *next;     /* in the cache */
  size_t capacity_bytes;
  int count; /* variables that hold it */
};
enum { BUFFER_HEAD_BYTES = 64, BUFFER_LEAST_BYTES = 4096, CACHE_MOST_BYTES = 1 << 24 };

typedef struct BufferCache {
  struct TcBuffer *free; /* last used first: it is still in the cache */
  size_t free_bytes;
} BufferCache;

static _Thread_local BufferCache buffer_cache;
static pthread_key_t buffers_key; /* its destructor frees the cache of a thread that ends */
static pthread_once_t buffers_once = PTHREAD_ONCE_INIT;

static void buffers_free(void *cache) {
  BufferCache *own = cache;
  for (struct TcBuffer *next, *at = own->free; at; at = next) {
    next = at->next;
    free(at);
  }
  own->free = NULL;
  own->free_bytes = 0;
}

static void buffers_key_make(void) { pthread_key_create(&buffers_key, buffers_free); }

static struct TcBuffer *buffer_new(BufferCache *cache, size_t bytes) {
  struct TcBuffer **best = NULL;
  for (struct TcBuffer **link = &cache->free; *link; link = &(*link)->next)
    if ((*link)->capacity_bytes >= bytes &&
        (!best || (*link)->capacity_bytes < (*best)->capacity_bytes))
      best = link;
  if (best) {
    struct TcBuffer *buffer = *best;
    *best = buffer->next;
    cache->free_bytes -= buffer->capacity_bytes;
    buffer->count = 1;
    return buffer;
  }
  if (bytes > SIZE_MAX / 2)
    return NULL;
  pthread_once(&buffers_once, buffers_key_make);
  pthread_setspecific(buffers_key, cache);
  size_t capacity = bytes < BUFFER_LEAST_BYTES ? BUFFER_LEAST_BYTES : (bytes + 63) / 64 * 64;
  struct TcBuffer *buffer = aligned_alloc(64, BUFFER_HEAD_BYTES + capacity);
  if (!buffer)
    return NULL;
  buffer->cache = cache;
  buffer->capacity_bytes = capacity;
  buffer->count = 1;
  return buffer;
}

/* The bytes of a matrix; false where they are more than there can be memory. */
static bool count_bytes(const int64_t sizes[2], size_t item_bytes, size_t *bytes) {
  return !__builtin_mul_overflow((size_t)sizes[0], (size_t)sizes[1], bytes) &&
         !__builtin_mul_overflow(*bytes, item_bytes, bytes) && *bytes <= PTRDIFF_MAX;
}

static size_t dtype_bytes(TcDType dtype) {
  switch (dtype) {
#define DTYPE(id, text, c_type, bytes, code)                                                       \
  case TC_##id:                                                                                    \
    return bytes;
#include "dtypes.def"
  }
  return 0;
}

static inline void *buffer_data(struct TcBuffer *buffer) {
  return (char *)buffer + BUFFER_HEAD_BYTES;
}

static void buffer_free(struct TcBuffer *buffer) {
  if (--buffer->count > 0)
    return;
  BufferCache *cache = buffer->cache;
  if (cache->free_bytes + buffer->capacity_bytes > CACHE_MOST_BYTES) {
    free(buffer);
    return;
  }
  buffer->next = cache->free;
  cache->free = buffer;
  cache->free_bytes += buffer->capacity_bytes;
}
