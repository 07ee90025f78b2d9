/* arena.c: the memory of one compilation.
 *
 * Blocks of zeroed memory, given out from the front and freed together; and the table of interned
 * strings, which lives in the same blocks. Nothing here is freed one by one, so no pass has to know
 * who owns a node. Also the way out for states that cannot be.
 */
#include "tensorc.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_BLOCK_BYTES = 64 * 1024,
  LAST_BLOCK_BYTES = 1024 * 1024, /* blocks double up to here */
  FIRST_INTERNED = 256,           /* a power of two */
};

typedef struct ArenaBlock {
  struct ArenaBlock *older;
  alignas(16) char bytes[];
} ArenaBlock;

typedef struct Interned {
  const char *text; /* NULL: a free place */
  size_t length;    /* in bytes; the text may hold NULs */
  uint64_t hash;
} Interned;

void never_reached(const char *file, int line, const char *what) {
  fprintf(stderr, "tensorc: internal error at %s:%d: %s\n", file, line, what);
  fflush(stderr);
  abort();
}

static TC_NORETURN void out_of_memory(size_t bytes) {
  fprintf(stderr, "tensorc: out of memory (%zu bytes)\n", bytes);
  fflush(stderr);
  abort();
}

void arena_init(Arena *arena) { memset(arena, 0, sizeof *arena); }

void arena_free(Arena *arena) {
  for (ArenaBlock *block = arena->blocks, *older; block != NULL; block = older) {
    older = block->older;
    free(block);
  }
  arena_init(arena);
}

/* calloc: fresh pages are zero already and stay untouched until they are used. */
static ArenaBlock *new_block(size_t bytes) {
  ArenaBlock *block = NULL;
  if (bytes <= SIZE_MAX - sizeof *block)
    block = calloc(1, sizeof *block + bytes);
  if (block == NULL)
    out_of_memory(bytes);
  return block;
}

void *arena_alloc(Arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX / 2) /* a negative count became a size */
    out_of_memory(bytes);
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes <= arena->capacity_bytes - arena->used_bytes && arena->blocks != NULL) {
    void *found = arena->blocks->bytes + arena->used_bytes;
    arena->used_bytes += bytes;
    return found;
  }
  size_t capacity = arena->capacity_bytes * 2;
  capacity = capacity < FIRST_BLOCK_BYTES ? FIRST_BLOCK_BYTES : capacity;
  capacity = capacity > LAST_BLOCK_BYTES ? LAST_BLOCK_BYTES : capacity;
  if (bytes > capacity / 4 && arena->blocks != NULL) {
    /* A big piece gets a block of its own behind the newest, whose rest stays in use. */
    ArenaBlock *block = new_block(bytes);
    block->older = arena->blocks->older;
    arena->blocks->older = block;
    return block->bytes;
  }
  capacity = capacity < bytes ? bytes : capacity;
  ArenaBlock *block = new_block(capacity);
  block->older = arena->blocks;
  arena->blocks = block;
  arena->capacity_bytes = capacity;
  arena->used_bytes = bytes;
  return block->bytes;
}

void *arena_grow(Arena *arena, void *items, int *capacity, size_t item_bytes) {
  if (*capacity > INT32_MAX / 2)
    out_of_memory(SIZE_MAX);
  int wanted = *capacity == 0 ? 4 : *capacity * 2;
  void *grown = arena_alloc(arena, (size_t)wanted * item_bytes);
  if (*capacity > 0)
    memcpy(grown, items, (size_t)*capacity * item_bytes);
  *capacity = wanted;
  return grown;
}

/* ── interned strings ────────────────────────────────────────────────────────────────────────── */

/* FNV-1a with a final mix, because the table takes the low bits. */
static uint64_t hash_bytes(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

/* The place of the text in the table, or the free place where it belongs. */
static Interned *find_place(const Arena *arena, const char *text, size_t length, uint64_t hash) {
  size_t mask = arena->interned_capacity - 1;
  for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
    Interned *place = &arena->interned[i];
    if (place->text == NULL)
      return place;
    if (place->hash == hash && place->length == length && memcmp(place->text, text, length) == 0)
      return place;
  }
}

/* Keeps the table at most half full, so that a search always ends. */
static void make_room(Arena *arena) {
  if (arena->n_interned * 2 < arena->interned_capacity)
    return;
  Interned *old = arena->interned;
  size_t old_capacity = arena->interned_capacity;
  arena->interned_capacity = old_capacity == 0 ? FIRST_INTERNED : old_capacity * 2;
  arena->interned = ARENA_ARRAY(arena, Interned, arena->interned_capacity);
  for (size_t i = 0; i < old_capacity; i++)
    if (old[i].text != NULL)
      *find_place(arena, old[i].text, old[i].length, old[i].hash) = old[i];
}

const char *arena_intern(Arena *arena, const char *text, size_t length) {
  if (length == 0)
    text = "";
  make_room(arena);
  uint64_t hash = hash_bytes(text, length);
  Interned *place = find_place(arena, text, length, hash);
  if (place->text == NULL) {
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    *place = (Interned){copy, length, hash};
    arena->n_interned++;
  }
  return place->text;
}

const char *arena_name(Arena *arena, const char *text) {
  return arena_intern(arena, text, strlen(text));
}

const char *arena_format(Arena *arena, const char *format, ...) {
  char small[256];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (length < 0)
    NEVER("a format that printf refuses");
  if ((size_t)length < sizeof small)
    return arena_intern(arena, small, (size_t)length);
  char *large = arena_alloc(arena, (size_t)length + 1);
  va_start(args, format);
  vsnprintf(large, (size_t)length + 1, format, args);
  va_end(args);
  return arena_intern(arena, large, (size_t)length);
}
