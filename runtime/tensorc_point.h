/* tensorc_point.h: what the loops of a graph's generated C compute of one element.
 *
 * Written so that the bits are torch's in each dtype, and so that a C compiler can take several
 * elements at once: no branch, no call, no step between that is rounded otherwise.
 */
#ifndef TENSORC_POINT_H
#define TENSORC_POINT_H

#include <stdbool.h>
#include <stdint.h>

/* A zero that no C compiler knows: gcc 12 takes 0 - x for -x where it sees that x is never -0. A
 * body that uses it begins with TC_ZEROS. */
#define TC_ZEROS                                                                                   \
  float tc_zero_f32 = 0;                                                                           \
  double tc_zero_f64 = 0;                                                                          \
  __asm__("" : "+m"(tc_zero_f32), "+m"(tc_zero_f64))
#define tc_zero_i64 INT64_C(0)
#define tc_zero_i32 0

/* NaN stays NaN, and -0 is -0. */
#define TC_POINT(t, T)                                                                             \
  static inline T tc_relu_##t(T x) { return x < 0 ? 0 : x; }                                       \
  static inline T tc_clamp_##t(T x, bool has_low, T low, bool has_high, T high) {                  \
    x = has_low && x < low ? low : x;                                                              \
    return has_high && high < x ? high : x;                                                        \
  }                                                                                                \
  static inline T tc_leaky_relu_##t(T x, bool given, T slope) {                                    \
    return x * (x > 0 ? (T)1 : given ? slope : (T)0.01);                                           \
  }
TC_POINT(f32, float)
TC_POINT(f64, double)
TC_POINT(i64, int64_t)
TC_POINT(i32, int32_t)
#undef TC_POINT

static inline float tc_abs_f32(float x) { return __builtin_fabsf(x); }
static inline double tc_abs_f64(double x) { return __builtin_fabs(x); }
static inline int64_t tc_abs_i64(int64_t x) { return x < 0 ? -x : x; }
static inline int32_t tc_abs_i32(int32_t x) { return x < 0 ? -x : x; }

static inline float tc_sqrt_f32(float x) { return __builtin_sqrtf(x); }
static inline double tc_sqrt_f64(double x) { return __builtin_sqrt(x); }
static inline float tc_floor_f32(float x) { return __builtin_floorf(x); }
static inline double tc_floor_f64(double x) { return __builtin_floor(x); }
static inline int64_t tc_floor_i64(int64_t x) { return x; }
static inline int32_t tc_floor_i32(int32_t x) { return x; }
static inline float tc_ceil_f32(float x) { return __builtin_ceilf(x); }
static inline double tc_ceil_f64(double x) { return __builtin_ceil(x); }
static inline int64_t tc_ceil_i64(int64_t x) { return x; }
static inline int32_t tc_ceil_i32(int32_t x) { return x; }

/* An index that counts from the end where it is negative. */
static inline int64_t tc_wrap(int64_t index, int64_t size) {
  return index < 0 ? index + size : index;
}

/* The larger and the smaller, NaN where one is. Of a 0 and a -0 torch gives the second in a
 * vector, the first in the tail of a loop. */
static inline float tc_max_f32(float a, float b, bool vector) {
  float larger = a < b || (vector && a == b) ? b : a;
  return a != a ? a : b != b ? b : larger;
}
static inline float tc_min_f32(float a, float b, bool vector) {
  float smaller = b < a || (vector && a == b) ? b : a;
  return a != a ? a : b != b ? b : smaller;
}

/* A window of x [rows, cols], which may reach over the ends: its first place in each dimension, and
 * how wide it is. The greatest element, NaN where one is; of equal ones the first. */
static inline float tc_pool_max(const float *x, int64_t rows, int64_t row, int64_t height,
                                int64_t row_step, int64_t cols, int64_t col, int64_t width,
                                int64_t col_step) {
  float most = -__builtin_inff();
  for (int64_t i = 0, r = row; i < height; i++, r += row_step)
    for (int64_t j = 0, c = col; j < width; j++, c += col_step)
      if (r >= 0 && r < rows && c >= 0 && c < cols) {
        float v = x[r * cols + c];
        most = v > most || v != v ? v : most;
      }
  return most;
}

static inline int64_t tc_least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline float tc_pool_sum(const float *x, int64_t cols, int64_t row, int64_t row_end,
                                int64_t col, int64_t col_end) {
  float sum = 0.0f;
  for (int64_t r = row; r < row_end; r++)
    for (int64_t c = col; c < col_end; c++)
      sum += x[r * cols + c];
  return sum;
}

/* divisor 0: as many as there are, with the padding or without it. */
static inline float tc_pool_average(const float *x, int64_t rows, int64_t row, int64_t height,
                                    int64_t row_padding, int64_t cols, int64_t col, int64_t width,
                                    int64_t col_padding, bool counts_padding, int64_t divisor) {
  int64_t row_end = tc_least(row + height, rows + row_padding);
  int64_t col_end = tc_least(col + width, cols + col_padding);
  int64_t all = (row_end - row) * (col_end - col);
  row = row < 0 ? 0 : row;
  col = col < 0 ? 0 : col;
  row_end = tc_least(row_end, rows);
  col_end = tc_least(col_end, cols);
  if (row >= row_end || col >= col_end)
    return 0.0f;
  int64_t there = (row_end - row) * (col_end - col);
  float sum = tc_pool_sum(x, cols, row, row_end, col, col_end);
  return 0.0f + sum / (float)(divisor ? divisor : counts_padding ? all : there);
}

static inline float tc_pool_part(const float *x, int64_t cols, int64_t row, int64_t row_end,
                                 int64_t col, int64_t col_end) {
  float sum = tc_pool_sum(x, cols, row, row_end, col, col_end);
  return sum / (float)(row_end - row) / (float)(col_end - col);
}

#endif
