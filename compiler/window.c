/* window.c: operations that look at windows of their operand: convolutions and pools.
 *
 * Reads a node's arguments and types. A pool is a loop of its own; its C comes from here, too. What
 * is known of one dimension of windows is known of two, of which the first is then one long.
 */
#include "tensorc.h"

#include <string.h>

/* Argument i: a whole number for each dimension, or one for all; `otherwise` where it is not given.
 */
static bool numbers_at(const Ir *ir, int i, int n_dims, int64_t otherwise, int64_t numbers[2]) {
  int skipped = 2 - n_dims;
  for (int d = skipped; d < 2; d++)
    numbers[d] = otherwise;
  if (i >= ir->n_attrs)
    return true;
  const Attr *attr = &ir->attrs[i];
  bool list = attr->kind == ATTR_LIST;
  if (attr->keyword || (!list && attr->kind != ATTR_INT))
    return false;
  if (list && attr->n_items == 0)
    return true;
  if (list && attr->n_items != 1 && attr->n_items != n_dims)
    return false;
  for (int d = skipped; d < 2; d++) {
    const Attr *item = !list ? attr : &attr->items[attr->n_items == 1 ? 0 : d - skipped];
    if (item->kind != ATTR_INT)
      return false;
    numbers[d] = item->integer;
  }
  return true;
}

static bool flag_at(const Ir *ir, int i, bool otherwise, bool *flag) {
  *flag = i < ir->n_attrs ? ir->attrs[i].integer != 0 : otherwise;
  return i >= ir->n_attrs || (ir->attrs[i].kind == ATTR_BOOL && !ir->attrs[i].keyword);
}

/* Zeros at the ends of a convolution, in words or numbers. */
static bool find_padding(const Ir *ir, Window *window) {
  const Attr *attr = ir->n_attrs > 4 ? &ir->attrs[4] : NULL;
  if (!attr || attr->kind != ATTR_TEXT)
    return numbers_at(ir, 4, window->n_dims, 0, window->padding);
  bool same = strcmp(attr->text, "same") == 0;
  for (int d = 2 - window->n_dims; d < 2 && same; d++) {
    int64_t both = window->dilation[d] * (window->width[d] - 1);
    window->padding[d] = both / 2;
    if (both % 2)
      return false; /* one more behind than before */
  }
  return same || strcmp(attr->text, "valid") == 0;
}

/* conv(x, w, bias, stride, padding, dilation, groups) */
static bool find_convolution(const Ir *ir, Window *window) {
  Type w = ir->args[1]->type;
  int64_t groups[2] = {1, 1};
  if (w.kind != TYPE_TENSOR || w.rank != window->n_dims + 2 ||
      !numbers_at(ir, 3, window->n_dims, 1, window->stride) ||
      !numbers_at(ir, 5, window->n_dims, 1, window->dilation) || !numbers_at(ir, 6, 1, 1, groups))
    return false;
  for (int d = 2 - window->n_dims; d < 2; d++)
    window->width[d] = w.shape->sizes[d + window->n_dims];
  return groups[1] == 1 && find_padding(ir, window);
}

/* max_pool(x, width, stride, padding, dilation, ...), avg_pool(x, width, stride, padding, ...) */
static bool find_pool(const Ir *ir, PoolKind kind, Window *window) {
  int n = window->n_dims, include = kind == POOL_AVERAGE ? 5 : INT32_MAX;
  bool ceil;
  int64_t divisor[2];
  if (!numbers_at(ir, 1, n, 1, window->width) || !numbers_at(ir, 2, n, 0, window->stride) ||
      !numbers_at(ir, 3, n, 0, window->padding) ||
      !flag_at(ir, include, true, &window->counts_padding))
    return false;
  for (int d = 2 - n; d < 2; d++)
    window->stride[d] = window->stride[d] ? window->stride[d] : window->width[d];
  if (kind == POOL_MAX)
    return numbers_at(ir, 4, n, 1, window->dilation) && flag_at(ir, 5, false, &ceil);
  if (ir->n_attrs > 6 && ir->attrs[6].kind != ATTR_NONE) {
    if (!numbers_at(ir, 6, 1, 0, divisor) || divisor[1] == 0)
      return false;
    window->divisor = divisor[1];
  }
  return flag_at(ir, 4, false, &ceil);
}

bool window_find(const Ir *ir, PoolKind kind, Window *window) {
  *window = (Window){.outer = 1,
                     .size = {1, 1},
                     .out = {1, 1},
                     .width = {1, 1},
                     .stride = {1, 1},
                     .dilation = {1, 1},
                     .n_dims = strstr(ir->schema, "2d") ? 2 : 1};
  Type x = ir->n_args > 0 ? ir->args[0]->type : ir->type;
  if (ir->n_args < (kind == POOL_NONE ? 2 : 1) || ir->attrs[0].kind != ATTR_VALUE ||
      x.kind != TYPE_TENSOR || ir->type.kind != TYPE_TENSOR || x.rank != ir->type.rank ||
      x.rank <= window->n_dims || x.rank > window->n_dims + 2)
    return false;
  for (int d = 0; d < x.rank; d++) {
    int own = d - x.rank + 2;
    if (d < x.rank - window->n_dims) {
      window->outer *= x.shape->sizes[d];
    } else {
      window->size[own] = x.shape->sizes[d];
      window->out[own] = ir->type.shape->sizes[d];
    }
  }
  switch (kind) {
  case POOL_NONE:
    return find_convolution(ir, window);
  case POOL_ADAPTIVE:
    return type_elements(x) > 0;
  default:
    return find_pool(ir, kind, window);
  }
}

/* ── the C of a pool ─────────────────────────────────────────────────────────────────────────── */

void emit_pool(Buf *out, const Ir *ir) {
  Window window;
  PoolKind kind = ir->home->row->pool;
  if (!window_find(ir, kind, &window))
    NEVER("a pool that was one");
  const long long rows = window.size[0], cols = window.size[1];
  buf_addf(out,
           "  for (int64_t o = 0; o < %lld; o++)\n    for (int64_t i = 0; i < %lld; i++)\n"
           "      for (int64_t j = 0; j < %lld; j++)\n"
           "        out[(o * %lld + i) * %lld + j] = ",
           (long long)window.outer, (long long)window.out[0], (long long)window.out[1],
           (long long)window.out[0], (long long)window.out[1]);
  if (kind == POOL_ADAPTIVE) {
    buf_addf(out, "tc_pool_part(a0 + o * %lld, %lld, ", rows * cols, cols);
    for (int d = 0; d < 2; d++) {
      char index = "ij"[d];
      long long size = window.size[d], parts = window.out[d];
      buf_addf(out, "%c * %lld / %lld, ((%c + 1) * %lld + %lld) / %lld%s", index, size, parts,
               index, size, parts - 1, parts, d ? ");\n" : ", ");
    }
    return;
  }
  buf_addf(out, "tc_pool_%s(a0 + o * %lld", kind == POOL_MAX ? "max" : "average", rows * cols);
  for (int d = 0; d < 2; d++)
    buf_addf(out, ", %lld, %c * %lld - %lld, %lld, %lld", (long long)window.size[d], "ij"[d],
             (long long)window.stride[d], (long long)window.padding[d], (long long)window.width[d],
             kind == POOL_MAX ? (long long)window.dilation[d] : (long long)window.padding[d]);
  if (kind == POOL_AVERAGE)
    buf_addf(out, ", %s, %lld", window.counts_padding ? "true" : "false",
             (long long)window.divisor);
  buf_add(out, ");\n");
}
