/* battery_product.c: matrix products on a battery, and the law of a host that nobody has measured.
 *
 * The variants of a product, in the order in which they are tried: the laws that are known for this
 * thread count, what measuring finds here, the wheel's own sgemm_. A law is asked only for what it
 * changes; the wheel's is held against the framework at all sizes before.
 */

/* ── one product ─────────────────────────────────────────────────────────────────────────────── */

enum { MOST_SHIFT = 15 }; /* floats that an operand is moved by, at most */

/* m rows of x in blocks of `block` rows, the last one with what is left over. False: no memory. */
static bool product_run(Battery *t, TcMatmul mm, const TcRule *rule, int64_t block, float *out) {
  struct TcBuffer *packed = NULL;
  if (rule->pack_elems > 0) {
    packed = buffer_new(&buffer_cache, (size_t)rule->pack_elems * sizeof(float));
    if (!packed) {
      t->failed = true;
      return false;
    }
    tc__kernels((int)t->isa)->pack(mm.w, buffer_data(packed), mm.k, mm.n, mm.transposed);
    mm.packed = buffer_data(packed);
  }
  mm.way = rule->way;
  mm.chain = rule->chain;
  mm.pieces = rule->pieces;
  const TcMatmul whole = mm;
  unsigned before = kernel_enter(t->lane);
  for (int64_t i = 0; i < whole.m; i += mm.m) {
    mm.x = whole.x + i * whole.k;
    mm.out = out + i * whole.n;
    mm.m = whole.m - i < 2 * block ? whole.m - i : block;
    TcPlace at = {i * whole.k, whole.m * whole.k, t->threads};
    t->recipe->kernel[t->isa].matmul(&mm, &at);
  }
  kernel_leave(t->lane, before);
  if (packed)
    buffer_free(packed);
  return true;
}

/* The same product by the rule and by the wheel's sgemm_, with operands that begin so many floats
 * behind 64 bytes. */
static bool product_as_wheel(Battery *t, TcMatmul mm, const TcRule *rule, int x_shift,
                             int w_shift) {
  static const TcRule wheel = {.way = TC_WHEEL};
  memmove(t->a + x_shift, mm.x, (size_t)(mm.m * mm.k) * sizeof(float));
  memmove(t->b + w_shift, mm.w, (size_t)(mm.k * mm.n) * sizeof(float));
  mm.x = t->a + x_shift;
  mm.w = t->b + w_shift;
  return product_run(t, mm, rule, mm.m, t->got) && product_run(t, mm, &wheel, mm.m, t->again) &&
         same_floats(t->got, t->again, mm.m * mm.n);
}

/* ── a battery ───────────────────────────────────────────────────────────────────────────────── */

typedef struct Product {
  int64_t m, k, n;
} Product;

enum { N_DRAWN = 64 };

/* A number in [least, most], small ones more often; the same in every process. */
static int64_t drawn(uint32_t *state, int64_t least, int64_t most) {
  *state = *state * 1664525u + 1013904223u;
  double u = (double)(*state >> 8) / (1 << 24);
  return least + (int64_t)((double)(most - least + 1) * u * u);
}

static Product battery_shape(size_t i, size_t n_fixed, const int64_t (*fixed)[3]) {
  if (i < n_fixed)
    return (Product){fixed[i][0], fixed[i][1], fixed[i][2]};
  uint32_t state = (uint32_t)i * 2654435761u;
  drawn(&state, 0, 1);
  Product s = {.m = drawn(&state, 1, i % 8 ? 70 : 900),
               .n = drawn(&state, 1, i % 8 == 1 ? 900 : 70)};
  if (i % 3 == 0)
    s.n = (s.n + 3) / 4 * 4;
  int64_t most = BATTERY_ELEMS / (s.m > s.n ? s.m : s.n);
  s.k = drawn(&state, 1, most < 1200 ? most : 1200);
  while (s.m * s.n > BATTERY_ELEMS)
    s.n /= 2;
  return s;
}

static bool product_same(Battery *t, Product s, int kind, bool with_bias, uint32_t seed,
                         bool law_only) {
  const int64_t m = s.m, k = s.k, n = s.n;
  bool mv = t->recipe->class == TC_MV, linear = t->recipe->class == TC_LINEAR;
  TcCase whole = {
      .rows = m, .cols = n, .k = k, .bias = with_bias, .transposed = linear, .threads = t->threads};
  TcRule plain = battery_rule(t, &whole), rule = plain;
  if (law_only) {
    whole.law = t->law;
    rule = battery_rule(t, &whole);
    if (rule.way == plain.way && rule.blocks == plain.blocks)
      return true;
  }
  if (!rule.exact)
    return true;
  t->n_by_law += law_only;
  battery_fill(t->a, m * k, kind, seed);
  battery_fill(t->b, k * n, kind, seed + 1000);
  battery_fill(t->c, n, kind, seed + 2000);
  TcMatmul mm = {.x = t->a,
                 .w = t->b,
                 .bias = with_bias ? t->c : NULL,
                 .m = m,
                 .k = k,
                 .n = n,
                 .transposed = linear};
  if (!product_run(t, mm, &rule, m, t->got))
    return false;
  TcHandle uses[3] = {battery_use(t, t->a, m, k, 2), {NULL, true}, {NULL, true}};
  uses[1] = mv       ? battery_use(t, t->b, 1, k, 1)
            : linear ? battery_use(t, t->b, n, k, 2)
                     : battery_use(t, t->b, k, n, 2);
  if (with_bias)
    uses[2] = battery_use(t, t->c, 1, n, 1);
  if (!battery_same(t, uses, with_bias ? 3 : 2, 0, t->got, m * n, false))
    return false;
  int64_t block = rule.min_rows > 1 + seed % 17 ? rule.min_rows : 1 + seed % 17;
  if (rule.blocks && m >= 2 * block &&
      !(product_run(t, mm, &rule, block, t->again) && same_floats(t->got, t->again, m * n)))
    return false;
  bool by_address = rule.way == TC_LANES || rule.way == TC_ROW_LANES;
  return !by_address || product_as_wheel(t, mm, &rule, (int)(seed % (MOST_SHIFT + 1)),
                                         (int)(seed / 3 % (MOST_SHIFT + 1)));
}

TC_RECIPE(addmm);

/* law_only: the cases in which t->law changes what the rule says, and more of them. */
static bool battery_product(Battery *t, bool law_only) {
  static const int64_t fixed[][3] = {
      {1, 1, 1},       {1, 32, 32},   {1, 32, 8},     {2, 3, 5},     {3, 16, 17},   {4, 31, 33},
      {15, 32, 32},    {16, 32, 8},   {17, 33, 9},    {33, 96, 96},  {40, 8, 100},  {64, 100, 3},
      {35, 130, 65},   {2, 400, 20},  {20, 768, 21},  {60, 250, 24}, {17, 501, 19}, {512, 32, 32},
      {9, 400, 18},    {2, 700, 90},  {1, 700, 90},   {64, 256, 48}, {200, 80, 64}, {128, 512, 96},
      {100, 300, 200}, {600, 96, 80}, {24, 2000, 32}, {1, 250, 256}, {2000, 32, 8}, {16, 385, 64},
      {48, 1025, 60},  {3, 1000, 64}, {5, 96, 64},    {9, 96, 32},   {11, 64, 48},  {16, 2, 64},
      {2, 2, 64},      {1, 2, 64},    {16, 2, 8},     {221, 215, 97}};
  enum { N_FIXED = sizeof fixed / sizeof *fixed };
  bool mv = t->recipe->class == TC_MV, linear = t->recipe->class == TC_LINEAR;
  bool addmm = t->recipe == &tc_recipe_addmm; /* always with a bias, which linear has or not */
  for (size_t i = 0; i < (N_FIXED + (law_only ? N_DRAWN : 0)) * N_KINDS * 2; i++) {
    Product s = battery_shape(i / N_KINDS / 2, N_FIXED, fixed);
    int kind = (int)(i / 2 % N_KINDS);
    if (mv)
      s.n = 1;
    bool with_bias = addmm || i % 2;
    if ((addmm ? i % 2 == 0 : !linear && with_bias) ||
        battery_skips(kind, s.m * s.k + s.k * s.n + s.m * s.n) ||
        (i >= N_FIXED * N_KINDS * 2 && kind > 0))
      continue;
    if (!product_same(t, s, kind, with_bias, (uint32_t)i, law_only))
      return false;
  }
  return true;
}

/* ── several products at once ────────────────────────────────────────────────────────────────── */

/* Matrices of the battery, row by row or column by column, rows or columns `gap` floats apart. */
static TcMatrices battery_matrices(const float *p, int64_t rows, int64_t cols, bool turned,
                                   int64_t gap) {
  int64_t line = (turned ? rows : cols) + gap;
  return turned ? (TcMatrices){p, cols * line, 1, line} : (TcMatrices){p, rows * line, line, 1};
}

static bool bmm_same(Battery *t, TcBmm b, int kind, uint32_t seed, bool law_only) {
  const int64_t n_out = b.batch * b.m * b.n;
  b.x = battery_matrices(t->a, b.m, b.k, seed & 1, seed % 3);
  b.w = battery_matrices(t->b, b.k, b.n, seed & 2, seed % 5);
  TcCase whole = {.bmm = &b, .threads = t->threads};
  TcRule plain = battery_rule(t, &whole), rule = plain;
  if (law_only) {
    whole.law = t->law;
    rule = battery_rule(t, &whole);
    if (rule.way == plain.way)
      return true;
  }
  if (!rule.exact || b.batch * b.x.step > BATTERY_ELEMS || b.batch * b.w.step > BATTERY_ELEMS ||
      n_out > BATTERY_ELEMS || rule.pack_elems > BATTERY_ELEMS)
    return true;
  t->n_by_law += law_only;
  battery_fill(t->a, b.batch * b.x.step, kind, seed);
  battery_fill(t->b, b.batch * b.w.step, kind, seed + 1000);
  b.out = t->got;
  b.scratch = t->c;
  b.way = rule.way;
  b.chain = rule.chain;
  t->recipe->kernel[t->isa].bmm(&b);
  const int64_t x_sizes[] = {b.batch, b.m, b.k}, w_sizes[] = {b.batch, b.k, b.n};
  TcHandle uses[] = {battery_use3(t->a, x_sizes, (const int64_t[]){b.x.step, b.x.row, b.x.col}),
                     battery_use3(t->b, w_sizes, (const int64_t[]){b.w.step, b.w.row, b.w.col})};
  return battery_same(t, uses, 2, 0, t->got, n_out, false);
}

/* Each at four ways to lie: by turns, since each of its seeds is another. */
static bool battery_bmm(Battery *t, bool law_only) {
  static const int64_t fixed[][4] = {
      {1, 9, 16, 9},    {2, 9, 16, 9},    {3, 16, 16, 16},  {2, 4, 64, 12},   {1, 64, 32, 1},
      {2, 64, 32, 1},   {5, 3, 7, 11},    {2, 7, 8, 7},     {2, 10, 8, 5},    {2, 1, 1, 1},
      {4, 1, 60, 16},   {2, 17, 200, 24}, {7, 5, 33, 13},   {8, 4, 8, 32},    {2, 33, 3, 40},
      {3, 12, 192, 16}, {2, 8, 193, 20},  {2, 3, 100, 8},   {3, 20, 50, 4},   {2, 50, 31, 48},
      {1, 16, 64, 64},  {2, 65, 385, 21}, {16, 16, 16, 16}, {2, 100, 40, 80}, {2, 2, 300, 2},
      {3, 31, 1, 33},   {6, 1, 90, 30}};
  enum { N_FIXED = sizeof fixed / sizeof *fixed };
  for (size_t i = 0; i < (N_FIXED + (law_only ? N_DRAWN : 0)) * N_KINDS * 4; i++) {
    size_t at = i / N_KINDS / 4;
    Product s = battery_shape(at + N_DRAWN * 4, 0, NULL);
    TcBmm b = {.batch = 2 + (int64_t)(at % 3), .m = s.m, .k = s.k % 400 + 1, .n = s.n};
    if (at < N_FIXED)
      b = (TcBmm){.batch = fixed[at][0], .m = fixed[at][1], .k = fixed[at][2], .n = fixed[at][3]};
    int kind = (int)(i / 4 % N_KINDS);
    if ((at >= N_FIXED && kind > 0) || battery_skips(kind, b.batch * b.m * b.k))
      continue;
    if (!bmm_same(t, b, kind, (uint32_t)i, law_only))
      return false;
  }
  return true;
}

/* ── a host that nobody has measured ─────────────────────────────────────────────────────────── */

enum {
  PROBE_ROWS = 32, /* enough on any host that is known, also where threads split them */
  PROBE_COLS = 48,
  PROBE_K = 256,
  PROBE_MOST_K = BATTERY_ELEMS / PROBE_COLS,
};

/* Whether the wheel adds up as chains of so many. */
static bool is_chains(Battery *t, bool turned, int64_t m, int64_t k, int64_t n, int64_t chain) {
  int64_t lanes = tc__kernels((int)t->isa)->lanes;
  TcRule rule = {.way = TC_CHAINS,
                 .chain = chain,
                 .pack_elems = turned ? (n + lanes - 1) / lanes * lanes * k : 0};
  TcMatmul mm = {.x = t->a, .w = t->b, .m = m, .k = k, .n = n, .transposed = turned};
  battery_fill(t->a, m * k, 0, (uint32_t)k);
  battery_fill(t->b, k * n, 0, (uint32_t)k + 1);
  return product_as_wheel(t, mm, &rule, 0, 0);
}

static bool is_chains_both(Battery *t, int64_t k, int64_t chain) {
  return is_chains(t, false, PROBE_ROWS, k, PROBE_COLS, chain) &&
         is_chains(t, true, PROBE_ROWS, k, PROBE_COLS, chain);
}

/* Whether the wheel adds the first chain to 0: two products that vanish, both from below. */
static bool is_to_0(Battery *t) {
  static const TcRule wheel = {.way = TC_WHEEL};
  TcMatmul mm = {.x = t->a, .w = t->b, .m = PROBE_ROWS, .k = 2, .n = PROBE_COLS};
  for (int i = 0; i < PROBE_ROWS * 2; i++)
    t->a[i] = -1e-30f;
  for (int i = 0; i < PROBE_COLS * 2; i++)
    t->b[i] = 1e-30f;
  return product_run(t, mm, &wheel, mm.m, t->got) && !signbit(t->got[0]);
}

/* How far k may grow with blocks of min(chain, (k + up) / 2): around each multiple of the longest
 * chain, where cuts come or go. */
static int64_t chains_up_to(Battery *t, int64_t chain, int up) {
  int64_t most = chain;
  for (int64_t k = chain + 1; k <= PROBE_MOST_K; k += k % chain < 4 ? 1 : chain / 2 - 1) {
    int64_t half = (k + up) / 2;
    if (!is_chains_both(t, k, half < chain ? half : chain))
      return most;
    most = k;
  }
  return most;
}

/* The longest chain, the cuts, which numbers of rows and columns are enough at this thread count.
 * Without a chain, a law of nothing. */
static TcLaw law_measure(Battery *t) {
  TcLaw law = {.name = "measured"};
  int64_t least = 16, most = PROBE_MOST_K + 1; /* a chain of least, none of most */
  if (!tc__wheel_math.sgemm || t->isa == TC_ISA_BASELINE || !is_chains_both(t, least, least))
    return law;
  while (least + 1 < most) {
    int64_t k = (least + most) / 2;
    if (is_chains_both(t, k, k))
      least = k;
    else
      most = k;
  }
  law.chain = (int)least;
  law.to_0 = is_to_0(t);
  int64_t down = chains_up_to(t, least, 0), up = chains_up_to(t, least, 1);
  law.up = up > down;
  law.most_k = (int)(up > down ? up : down);
  int64_t k = least < PROBE_K ? least : PROBE_K;
  for (int turned = 0; turned < 2; turned++)
    for (int64_t n = 2; n < 64; n++) {
      int64_t bit = n < 48 ? n : 48 + n % 16;
      law.rows[turned] |= (uint64_t)is_chains(t, turned, n, k, PROBE_COLS, k) << bit;
      law.cols[turned] |= (uint64_t)is_chains(t, turned, PROBE_ROWS, k, n, k) << bit;
    }
  return law;
}

/* ── variants ────────────────────────────────────────────────────────────────────────────────── */

static bool law_holds(Battery *t, const TcLaw *law) {
  t->law = law;
  t->n_by_law = 0;
  bool holds = t->recipe->class == TC_BMM ? battery_bmm(t, true) : battery_product(t, true);
  return holds && t->n_by_law > 0;
}

/* Whether the product may run at all; leaves the law that holds in *found, or one without a name.
 */
static bool product_examine(Battery *t, TcLaw *found) {
  *found = (TcLaw){.name = ""};
  bool several = t->recipe->class == TC_BMM;
  if (!(several ? battery_bmm(t, false) : battery_product(t, false)))
    return false;
  int n;
  const TcLaw *known = tc__known_laws(several ? 1 : t->threads, &n);
  bool heeds = false; /* there are recipes that go by no law */
  for (int i = 0; i < n && !t->failed; i++) {
    if (law_holds(t, &known[i])) {
      *found = known[i];
      return true;
    }
    heeds |= t->n_by_law > 0;
  }
  if (!heeds || several || t->failed)
    return true;
  TcLaw law = law_measure(t);
  for (int small = 1; small >= 0 && !t->failed; small--) {
    law.small = small;
    if (law_holds(t, &law)) {
      *found = law;
      break;
    }
  }
  return true;
}
