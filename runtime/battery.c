/* battery.c: what a recipe is examined with: values, and the comparison with the framework.
 *
 * Runs under the GIL, in the plain state only.
 */

/* ── values and comparison ───────────────────────────────────────────────────────────────────── */

enum { N_KINDS = 3 };

/* Fills x: kind 0 ordinary values, 1 wide ones, 2 every special value among ordinary ones. The same
 * in every process. */
static void battery_fill(float *x, int64_t n, int kind, uint32_t seed) {
  static const float special[] = {
      0.0f,  -0.0f,  INFINITY, -INFINITY, NAN,  1e-45f, -1e-40f, 1.17549435e-38f, 3e38f, -3e38f,
      88.7f, -88.0f, 104.0f,   -104.0f,   1.0f, -1.0f,  0.5f,    -17.33f,         9.0f,  -9.0f};
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < n; i++) {
    float sum = -2.0f; /* of four uniform numbers: close enough to a normal distribution */
    for (int k = 0; k < 4; k++) {
      state = state * 1664525u + 1013904223u;
      sum += (float)(state >> 8) * (1.0f / 16777216.0f);
    }
    x[i] = sum * (kind == 1 ? 52.0f : 1.73f); /* standard deviations of 30 and of 1 */
    if (kind == 2 && (state >> 9) % 3 == 0)
      x[i] = special[(state >> 12) % (sizeof special / sizeof *special)];
  }
}

static bool same_floats(const float *a, const float *b, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

/* ── one battery ─────────────────────────────────────────────────────────────────────────────── */

enum {
  BATTERY_ELEMS = 1 << 16,
  SMALL_ELEMS = 1 << 14, /* more are examined with ordinary values only: that is for how frameworks
                            split the work, and takes time */
};

/* Memory of one battery. */
typedef struct Battery {
  TcCall tc;
  const Lane *lane;
  TcIsa isa;
  int threads;
  const TcOp *op;
  const TcRecipe *recipe; /* a variant of op's */
  const TcLaw *law;       /* of a product: the one that is examined, or NULL */
  double number;          /* of the operation, as it is examined */
  bool failed;            /* there was nothing to compare with */
  int n_compared, n_by_law;
  /* At 64 bytes as the framework's own: products may depend on it. */
  _Alignas(64) float a[BATTERY_ELEMS + 16], b[BATTERY_ELEMS + 16], c[BATTERY_ELEMS + 16];
  float got[BATTERY_ELEMS], again[BATTERY_ELEMS];
  int64_t got_ints[BATTERY_ELEMS];
} Battery;

static bool battery_skips(int kind, int64_t elems) { return kind > 0 && elems > SMALL_ELEMS; }

static TcRule battery_rule(const Battery *t, const TcCase *whole) {
  return t->recipe->rule(t->isa, whole);
}

/* Floats that the kernel and the framework see, as an operand. */
static TcHandle battery_use(const Battery *t, float *x, int64_t rows, int64_t cols, int rank) {
  TcTensor over = {.data = x, .sizes = {rows, cols}, .rank = rank};
  return (TcHandle){t->lane->tensor_over(&over), true};
}

static TcHandle battery_use3(float *x, const int64_t sizes[3], const int64_t strides[3]) {
  H handle = NULL;
  if (torch.from_blob(x, 3, sizes, strides, 0, TC_F32, TC_CPU, 0, &handle) != 0)
    handle = NULL;
  return (TcHandle){handle, true};
}

/* The framework's own results, into want[0] and, where there are two, want[1]. False: none, and
 * then t->failed. */
static bool battery_ask(Battery *t, TcTensor want[2], const TcHandle *uses, int n_uses, int dim) {
  for (int i = 0; i < n_uses; i++)
    t->failed |= !uses[i].handle;
  for (int i = 0; i < n_uses && t->failed; i++)
    if (uses[i].handle)
      handle_free(uses[i].handle);
  if (t->failed)
    return false;
  TcOp op = *t->op;
  op.n_operands = n_uses;
  op.dim = dim;
  op.keepdim = false;
  op.number = t->number;
  t->failed = !op.wheel(&t->tc, want, &op, uses);
  t->n_compared++;
  PyErr_Clear();
  return !t->failed;
}

/* One of them, against the kernel's `got` of n elements; takes it. */
static bool battery_equal(Battery *t, TcTensor *want, const void *got, int64_t n, bool ints) {
  const void *data = t->lane->tensor_data(want->handle);
  t->failed |= !data && n > 0;
  bool same = !t->failed && (n == 0 || (ints ? memcmp(data, got, (size_t)n * sizeof(int64_t)) == 0
                                             : same_floats(data, got, n)));
  tc_drop(want);
  return same;
}

static bool battery_same(Battery *t, const TcHandle *uses, int n_uses, int dim, const void *got,
                         int64_t n, bool ints) {
  TcTensor want[2] = {0};
  return battery_ask(t, want, uses, n_uses, dim) && battery_equal(t, want, got, n, ints);
}
