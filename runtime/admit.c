/* admit.c: which recipes have the wheel's bits on this host.
 *
 * A recipe is a claim about a wheel, a CPU and a thread count. When a function first runs, each
 * recipe of it is compared with the wheel's own kernel on a battery: sizes around the vector width
 * and the unrolling, signed zeros, infinities, NaN, denormals, big and ordinary values. Equal: it
 * is trusted for this thread count. Not equal: its operations run by the wheel. A battery is a
 * sample; sizes that are known not to be exact are the rules'.
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

/* ── one battery per class ───────────────────────────────────────────────────────────────────── */

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
  const TcRecipe *recipe; /* of op */
  bool failed;            /* there was nothing to compare with */
  float a[BATTERY_ELEMS], b[BATTERY_ELEMS], c[BATTERY_ELEMS];
  float got[BATTERY_ELEMS];
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

/* The framework's own result, against the kernel's `got` of n elements. False: it differs, or there
 * is none, and then t->failed. */
static bool battery_same(Battery *t, const TcHandle *uses, int n_uses, int dim, const void *got,
                         int64_t n, bool ints) {
  TcTensor want = {0};
  const void *data = NULL;
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
  bool same = op.wheel(&t->tc, &want, &op, uses) &&
              ((data = t->lane->tensor_data(want.handle)) != NULL || n == 0);
  t->failed = !same;
  if (same && n > 0)
    same = ints ? memcmp(data, got, (size_t)n * sizeof(int64_t)) == 0 : same_floats(data, got, n);
  tc_drop(&want);
  PyErr_Clear();
  return same;
}

static bool battery_map1(Battery *t) {
  static const int64_t sizes[] = {1,  3,  7,  8,  9,  15,  16,  17,   31,    32,
                                  33, 47, 63, 64, 65, 100, 257, 1000, 40001, 65533};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes * N_KINDS; i++) {
    int64_t n = sizes[i / N_KINDS];
    int kind = (int)(i % N_KINDS);
    TcPlace at = {0, n, t->threads};
    TcCase whole = {.rows = 1, .cols = n, .threads = t->threads};
    if (battery_skips(kind, n) || !battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, n, kind, (uint32_t)i);
    unsigned before = kernel_enter(t->lane);
    t->recipe->kernel[t->isa].map1(t->a, t->got, n, &at);
    kernel_leave(t->lane, before);
    TcHandle x = battery_use(t, t->a, 1, n, 1);
    if (!battery_same(t, &x, 1, 0, t->got, n, false))
      return false;
  }
  return true;
}

static bool battery_map2(Battery *t) {
  static const int64_t shapes[][2] = {{1, 1},   {1, 7},   {1, 33},   {3, 16},    {5, 17},
                                      {4, 100}, {16, 31}, {300, 50}, {333, 121}, {1, 40001}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS * 2; i++) {
    int64_t m = shapes[i / N_KINDS / 2][0], n = shapes[i / N_KINDS / 2][1];
    bool row = i % 2; /* the same shape, or a row over rows */
    int kind = (int)(i / 2 % N_KINDS);
    TcCase whole = {.rows = m, .cols = n, .threads = t->threads, .full = !row, .row = row};
    if (battery_skips(kind, m * n) || !battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, m * n, kind, (uint32_t)i);
    battery_fill(t->b, m * n, kind, (uint32_t)i + 1000);
    unsigned before = kernel_enter(t->lane);
    t->recipe->kernel[t->isa].map2((TcOperand){t->a, n, 1}, (TcOperand){t->b, row ? 0 : n, 1},
                                   t->got, m, n);
    kernel_leave(t->lane, before);
    TcHandle uses[] = {battery_use(t, t->a, m, n, 2),
                       battery_use(t, t->b, row ? 1 : m, n, row ? 1 : 2)};
    if (!battery_same(t, uses, 2, 0, t->got, m * n, false))
      return false;
  }
  return true;
}

static bool battery_transpose(Battery *t) {
  static const int64_t shapes[][2] = {{1, 1}, {1, 33}, {16, 16}, {5, 17}, {33, 40}, {100, 3}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS; i++) {
    int64_t m = shapes[i / N_KINDS][0], n = shapes[i / N_KINDS][1];
    TcCase whole = {.rows = m, .cols = n, .threads = t->threads};
    if (!battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, m * n, (int)(i % N_KINDS), (uint32_t)i);
    unsigned before = kernel_enter(t->lane);
    t->recipe->kernel[t->isa].transpose(t->a, t->got, m, n);
    kernel_leave(t->lane, before);
    TcHandle x = battery_use(t, t->a, m, n, 2);
    if (!battery_same(t, &x, 1, 0, t->got, m * n, false))
      return false;
  }
  return true;
}

static bool battery_along(Battery *t) {
  static const int64_t shapes[][2] = {{1, 1},     {1, 8},   {2, 3},     {3, 16},    {5, 17},
                                      {7, 31},    {16, 32}, {17, 33},   {33, 96},   {40, 129},
                                      {1, 1000},  {70, 5},  {1, 40001}, {2, 32767}, {40001, 1},
                                      {300, 200}, {9, 7000}};
  const TcRecipe *recipe = t->recipe;
  bool argmax = recipe->class == TC_ARGMAX;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS * 2; i++) {
    int64_t m = shapes[i / N_KINDS / 2][0], n = shapes[i / N_KINDS / 2][1];
    TcAxis axis = i % 2 ? TC_FIRST : TC_LAST;
    int kind = (int)(i / 2 % N_KINDS);
    TcPlace at = {0, m * n, t->threads};
    TcCase whole = {.rows = m, .cols = n, .axis = axis, .threads = t->threads};
    if (battery_skips(kind, m * n) || !battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, m * n, kind, (uint32_t)i);
    void *got = argmax ? (void *)t->got_ints : (void *)t->got;
    unsigned before = kernel_enter(t->lane);
    recipe->kernel[t->isa].along(t->a, got, m, n, axis, &at);
    kernel_leave(t->lane, before);
    TcHandle x = battery_use(t, t->a, m, n, 2);
    int64_t n_results = recipe->class == TC_ROWWISE ? m * n : axis == TC_FIRST ? n : m;
    if (!battery_same(t, &x, 1, axis == TC_FIRST ? 0 : 1, got, n_results, argmax))
      return false;
  }
  return true;
}

static bool battery_matmul(Battery *t) {
  static const int64_t shapes[][3] = {
      {1, 1, 1},       {1, 32, 32},  {1, 32, 8},    {2, 3, 5},     {3, 16, 17},   {4, 31, 33},
      {15, 32, 32},    {16, 32, 8},  {17, 33, 9},   {33, 96, 96},  {40, 8, 100},  {64, 100, 3},
      {35, 130, 65},   {2, 400, 20}, {20, 768, 21}, {60, 250, 24}, {17, 501, 19}, {512, 32, 32},
      {9, 400, 18},    {2, 700, 90}, {1, 700, 90},  {64, 256, 48}, {200, 80, 64}, {128, 512, 96},
      {100, 300, 200}, {600, 96, 80}};
  const TcRecipe *recipe = t->recipe;
  bool mv = recipe->class == TC_MV, linear = recipe->class == TC_LINEAR;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS * 2; i++) {
    int64_t m = shapes[i / N_KINDS / 2][0], k = shapes[i / N_KINDS / 2][1],
            n = mv ? 1 : shapes[i / N_KINDS / 2][2];
    bool with_bias = linear && i % 2;
    int kind = (int)(i / 2 % N_KINDS);
    if ((!linear && i % 2) || battery_skips(kind, m * k + k * n + m * n))
      continue;
    TcCase whole = {.rows = m,
                    .cols = n,
                    .k = k,
                    .bias = with_bias,
                    .transposed = linear,
                    .threads = t->threads};
    TcRule rule = battery_rule(t, &whole);
    if (!rule.exact)
      continue;
    struct TcBuffer *packed =
        rule.pack_elems > 0 ? buffer_new(&buffer_cache, (size_t)rule.pack_elems * sizeof(float))
                            : NULL;
    if (rule.pack_elems > 0 && !packed) {
      t->failed = true;
      return false;
    }
    battery_fill(t->a, m * k, kind, (uint32_t)i);
    battery_fill(t->b, k * n, kind, (uint32_t)i + 1000);
    battery_fill(t->c, n, kind, (uint32_t)i + 2000);
    TcMatmul mm = {.x = t->a,
                   .w = t->b,
                   .bias = with_bias ? t->c : NULL,
                   .out = t->got,
                   .m = m,
                   .k = k,
                   .n = n,
                   .transposed = linear};
    if (packed) {
      tc__kernels((int)t->isa)->pack(t->b, buffer_data(packed), k, n, linear);
      mm.packed = buffer_data(packed);
    }
    TcPlace at = {0, m * k, t->threads};
    unsigned before = kernel_enter(t->lane);
    recipe->kernel[t->isa].matmul(&mm, &at);
    kernel_leave(t->lane, before);
    if (packed)
      buffer_free(packed);
    TcHandle uses[3] = {battery_use(t, t->a, m, k, 2), {NULL, true}, {NULL, true}};
    uses[1] = mv       ? battery_use(t, t->b, 1, k, 1)
              : linear ? battery_use(t, t->b, n, k, 2)
                       : battery_use(t, t->b, k, n, 2);
    if (with_bias)
      uses[2] = battery_use(t, t->c, 1, n, 1);
    if (!battery_same(t, uses, with_bias ? 3 : 2, 0, t->got, m * n, false))
      return false;
  }
  return true;
}

/* ── verdicts ────────────────────────────────────────────────────────────────────────────────── */

/* What a recipe was found to be at a thread count. */
typedef struct RecipeVerdict {
  const TcRecipe *recipe;
  int threads;
  bool admitted;
} RecipeVerdict;
enum { MOST_VERDICTS = 256 };
static RecipeVerdict recipe_verdicts[MOST_VERDICTS];
static int n_recipe_verdicts;

/* 1: it has the framework's bits, 0: it has not, -1: that could not be found out. */
static int op_examine(TcCall *tc, const Lane *lane, const TcOp *op, int threads) {
  const TcRecipe *recipe = op->recipe;
  if (!recipe->kernel[lane->isa].map1)
    return 0;
  Battery *battery = calloc(1, sizeof *battery);
  if (!battery)
    return -1;
  battery->tc = *tc;
  battery->lane = lane;
  battery->isa = lane->isa;
  battery->threads = threads;
  battery->op = op;
  battery->recipe = recipe;
  static bool (*const batteries[TC_N_CLASSES])(Battery *) = {
      [TC_MAP1] = battery_map1,          [TC_MAP2] = battery_map2,
      [TC_REDUCE] = battery_along,       [TC_ROWWISE] = battery_along,
      [TC_ARGMAX] = battery_along,       [TC_MATMUL] = battery_matmul,
      [TC_LINEAR] = battery_matmul,      [TC_MV] = battery_matmul,
      [TC_TRANSPOSE] = battery_transpose};
  bool admitted = batteries[recipe->class](battery);
  bool failed = battery->failed;
  free(battery);
  return failed ? -1 : admitted;
}

/* What could not be found out is not admitted in this process, and asked again in the next. */
static bool op_admitted(TcCall *tc, Lane *lane, const TcOp *op, int threads) {
  const TcRecipe *recipe = op->recipe;
  for (int i = 0; i < n_recipe_verdicts; i++)
    if (recipe_verdicts[i].recipe == recipe && recipe_verdicts[i].threads == threads)
      return recipe_verdicts[i].admitted;
  if (n_recipe_verdicts == MOST_VERDICTS)
    return false;
  if (!lane->verdicts.known) {
    Dl_info owner;
    verdict_file_find(&lane->verdicts, lane->name,
                      dladdr(lane->witness(), &owner) ? owner.dli_fname : NULL, (int)lane->isa);
  }
  int verdict = verdict_read(&lane->verdicts, recipe->name, threads);
  if (verdict < 0 && !is_forked_child()) { /* there, the framework's threads may be gone */
    verdict = op_examine(tc, lane, op, threads);
    if (verdict >= 0)
      verdict_append(&lane->verdicts, recipe->name, threads, verdict);
  }
  recipe_verdicts[n_recipe_verdicts++] = (RecipeVerdict){recipe, threads, verdict == 1};
  return verdict == 1;
}

/* Which of a function's operations may run by their recipes at a thread count. Never changes: calls
 * without the GIL read it. */
typedef struct Admission {
  struct Admission *next; /* of the same function, at another thread count */
  int threads;
  bool any;
  bool ops[]; /* by the operation's place in TcFunc.ops */
} Admission;

/* Examines what was not examined yet. NULL: no memory. */
static Admission *admission_new(TcCall *tc, Lane *lane, int threads) {
  const TcFunc *func = tc->func;
  Admission *admission = calloc(1, sizeof *admission + (size_t)func->n_ops * sizeof(bool));
  if (!admission)
    return NULL;
  admission->threads = threads;
  if (lane->status == RECIPES_UNKNOWN)
    lane->status = lane->load(&lane->isa) ? RECIPES_READY : RECIPES_UNAVAILABLE;
  for (int i = 0; i < func->n_ops && lane->status == RECIPES_READY; i++) {
    admission->ops[i] = func->ops[i].recipe && op_admitted(tc, lane, &func->ops[i], threads);
    admission->any |= admission->ops[i];
  }
  return admission;
}

static void admissions_free(Admission *admission) {
  for (Admission *next; admission; admission = next) {
    next = admission->next;
    free(admission);
  }
}
