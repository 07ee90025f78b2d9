/* admit.c: which recipes have the wheel's bits on this host.
 *
 * A recipe is a claim about a wheel, a CPU and a thread count. When a function first runs, each
 * recipe of it is compared with the wheel's own kernel on a battery: sizes around the vector width
 * and the unrolling, signed zeros, infinities, NaN, denormals, big and ordinary values. Equal: it
 * is trusted for this thread count. Not equal: the next variant of the recipe is tried, and where
 * there is none its operations run by the wheel. Products of torch have laws for variants
 * (battery_product.c), the last of which is the wheel's own function. A battery is a sample; sizes
 * that are known not to be exact are the rules'.
 *
 * Runs with the GIL, which a kernel of the wheel may let go for a while, in the plain state only.
 */

/* ── one battery per class ───────────────────────────────────────────────────────────────────── */

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
    t->number = t->op->number;
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

TC_RECIPE(topk);

static bool battery_pick(Battery *t) {
  static const int64_t shapes[][2] = {{1, 1},    {3, 2},   {2, 3},   {5, 4},    {16, 8},
                                      {7, 17},   {40, 33}, {4, 100}, {3, 256},  {2, 1000},
                                      {1, 2047}, {9, 20},  {8, 130}, {300, 12}, {33, 64}};
  bool topk = t->recipe == &tc_recipe_topk;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS * 4; i++) {
    int64_t m = shapes[i / N_KINDS / 4][0], n = shapes[i / N_KINDS / 4][1];
    int64_t k = topk ? 1 + (int64_t)(i * 7) % n : 1;
    int kind = (int)(i / 4 % N_KINDS);
    bool largest = i % 2, first = !topk && i % 2;
    TcPick pick = {
        .x = t->a, .values = t->got, .indices = t->got_ints, .rows = m, .cols = n, .k = k};
    pick.axis = first ? TC_FIRST : TC_LAST;
    pick.largest = largest;
    pick.sorted = true;
    TcCase whole = {.rows = m, .cols = n, .k = k, .axis = pick.axis, .threads = t->threads};
    if (!battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, m * n, kind, (uint32_t)i);
    for (int64_t j = 0; j < m * n && i % 4 > 1; j++) /* many that are equal */
      t->a[j] = roundf(t->a[j]);
    t->recipe->kernel[t->isa].pick(&pick);
    t->number = largest ? (double)k : (double)-k;
    TcHandle x = battery_use(t, t->a, m, n, 2);
    TcTensor want[2] = {0};
    int64_t n_results = first ? n : m * k;
    if (!battery_ask(t, want, &x, 1, first ? 0 : 1))
      return false;
    bool values = battery_equal(t, &want[0], t->got, n_results, false);
    if (!battery_equal(t, &want[1], t->got_ints, n_results, true) || !values)
      return false;
  }
  return true;
}

/* One sample and several, numbers of channels and filters around 8. */
static bool battery_conv(Battery *t) {
  static const TcConv sizes[] = {
      {.batch = 1, .channels = 8, .length = 34, .filters = 16, .width = 3},
      {.batch = 2, .channels = 8, .length = 34, .filters = 16, .width = 3},
      {.batch = 16, .channels = 16, .length = 36, .filters = 16, .width = 3},
      {.batch = 1, .channels = 16, .length = 20, .filters = 33, .width = 1},
      {.batch = 3, .channels = 3, .length = 50, .filters = 5, .width = 5},
      {.batch = 1, .channels = 12, .length = 50, .filters = 5, .width = 4},
      {.batch = 2, .channels = 13, .length = 30, .filters = 30, .width = 4},
      {.batch = 2, .channels = 1, .length = 20, .filters = 8, .width = 5},
      {.batch = 4, .channels = 40, .length = 30, .filters = 9, .width = 7},
      {.batch = 1, .channels = 64, .length = 40, .filters = 64, .width = 3},
      {.batch = 3, .channels = 64, .length = 40, .filters = 64, .width = 3},
      {.batch = 2, .channels = 200, .length = 60, .filters = 20, .width = 9}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes * N_KINDS * 4; i++) {
    TcConv c = sizes[i / N_KINDS / 4];
    int kind = (int)(i / 4 % N_KINDS);
    bool bias = i % 2;
    c.x = t->a;
    c.w = t->b;
    c.bias = bias ? t->c : NULL;
    c.out = t->got;
    c.stride = 1;
    c.dilation = i % 4 > 1 ? 2 : 1;
    c.padding = (int64_t)(i / 2 % 3);
    c.out_length = c.length + 2 * c.padding - c.dilation * (c.width - 1);
    TcCase whole = {.threads = t->threads, .conv = &c};
    TcRule rule = battery_rule(t, &whole);
    int64_t n_x = c.batch * c.channels * c.length, n_w = c.filters * c.channels * c.width;
    if (!rule.exact || rule.pack_elems > BATTERY_ELEMS)
      continue;
    c.columns = rule.pack_elems ? t->again : NULL;
    battery_fill(t->a, n_x, kind, (uint32_t)i);
    battery_fill(t->b, n_w, kind, (uint32_t)i + 1000);
    battery_fill(t->c, c.filters, kind, (uint32_t)i + 2000);
    t->recipe->kernel[t->isa].conv(&c);
    t->number = (double)c.dilation;
    const int64_t x_sizes[] = {c.batch, c.channels, c.length},
                  w_sizes[] = {c.filters, c.channels, c.width};
    TcHandle uses[3] = {
        battery_use3(t->a, x_sizes, (const int64_t[]){c.channels * c.length, c.length, 1}),
        battery_use3(t->b, w_sizes, (const int64_t[]){c.channels * c.width, c.width, 1})};
    if (bias)
      uses[2] = battery_use(t, t->c, 1, c.filters, 1);
    if (!battery_same(t, uses, bias ? 3 : 2, (int)c.padding, t->got,
                      c.batch * c.filters * c.out_length, false))
      return false;
  }
  return true;
}

TC_RECIPE(rms_norm);
TC_RECIPE(batch_norm);

/* Without weight and bias, with a weight, with both; batch_norm has neither or both. */
static bool battery_norm(Battery *t) {
  static const int64_t shapes[][2] = {{1, 1},   {3, 2},   {2, 7},    {5, 8},    {1, 64},
                                      {9, 33},  {4, 100}, {3, 128},  {2, 137},  {3, 256},
                                      {2, 363}, {6, 344}, {1, 1000}, {3, 4099}, {700, 24}};
  static const double eps[] = {1e-5, 1e-12, 0.5};
  bool given = t->recipe == &tc_recipe_batch_norm; /* statistics */
  int most = t->recipe == &tc_recipe_rms_norm ? 1 : 2;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes * N_KINDS * 3; i++) {
    int64_t m = shapes[i / N_KINDS / 3][0], n = shapes[i / N_KINDS / 3][1];
    int kind = (int)(i / 3 % N_KINDS), affine = (int)(i % 3);
    TcCase whole = {.rows = m, .cols = n, .threads = t->threads};
    if (battery_skips(kind, m * n) || affine > most || (given && affine == 1) ||
        !battery_rule(t, &whole).exact)
      continue;
    battery_fill(t->a, m * n, kind, (uint32_t)i);
    battery_fill(t->b, 2 * n, kind, (uint32_t)i + 1000);
    battery_fill(t->c, 2 * n, kind, (uint32_t)i + 2000);
    for (int64_t j = n; j < 2 * n; j++)
      t->c[j] = fabsf(t->c[j]);
    t->number = eps[i % 3];
    TcNorm norm = {.x = t->a,
                   .weight = affine > 0 ? t->b : NULL,
                   .bias = affine > 1 ? t->b + n : NULL,
                   .mean = given ? t->c : NULL,
                   .var = given ? t->c + n : NULL,
                   .out = t->got,
                   .rows = m,
                   .cols = n,
                   .inner = 1,
                   .eps = t->number};
    t->recipe->kernel[t->isa].norm(&norm);
    TcHandle uses[5] = {battery_use(t, t->a, m, n, 2)};
    int n_uses = 1;
    if (given) {
      uses[n_uses++] = battery_use(t, t->c, 1, n, 1);
      uses[n_uses++] = battery_use(t, t->c + n, 1, n, 1);
    }
    for (int k = 0; k < affine; k++)
      uses[n_uses++] = battery_use(t, t->b + k * n, 1, n, 1);
    if (!battery_same(t, uses, n_uses, 0, t->got, m * n, false))
      return false;
  }
  return true;
}

/* ── verdicts ────────────────────────────────────────────────────────────────────────────────── */

/* What a recipe was found to be at a thread count. */
typedef struct RecipeVerdict {
  const TcRecipe *recipe; /* of operations: the first variant */
  int threads;
  const TcRecipe *admitted; /* the variant, or NULL */
  const TcLaw *law; /* of a product, lives as long as the process; NULL: the wheel's own function */
} RecipeVerdict;
static RecipeVerdict *recipe_verdicts; /* of the process, as many as there is memory for */
static int n_recipe_verdicts;

/* 1: it has the framework's bits, 0: it has not, -1: that could not be found out. *law: of a
 * product, without a name where it is the wheel's own function. */
static int op_examine(TcCall *tc, const Lane *lane, const TcOp *op, const TcRecipe *recipe,
                      int threads, TcLaw *law) {
  static bool (*const batteries[TC_N_CLASSES])(Battery *) = {
      [TC_MAP1] = battery_map1,     [TC_MAP2] = battery_map2,    [TC_REDUCE] = battery_along,
      [TC_ROWWISE] = battery_along, [TC_ARGMAX] = battery_along, [TC_TRANSPOSE] = battery_transpose,
      [TC_NORM] = battery_norm,     [TC_PICK] = battery_pick,    [TC_CONV] = battery_conv};
  Battery *battery = aligned_alloc(64, (sizeof *battery + 63) / 64 * 64);
  if (!battery)
    return -1;
  memset(battery, 0, sizeof *battery);
  battery->tc = *tc;
  battery->lane = lane;
  battery->isa = lane->isa;
  battery->threads = threads;
  battery->op = op;
  battery->recipe = recipe;
  bool admitted =
      batteries[recipe->class] ? batteries[recipe->class](battery) : product_examine(battery, law);
  bool failed = battery->failed || battery->n_compared == 0; /* torch.backends.mkldnn may be off */
  free(battery);
  return failed ? -1 : admitted;
}

/* As op_examine, by this process or one before. */
static int variant_verdict(TcCall *tc, Lane *lane, const TcOp *op, const TcRecipe *variant,
                           int threads, TcLaw *law) {
  if (!variant->kernel[lane->isa].map1) /* not compiled in: nothing to examine, or to keep */
    return 0;
  if (!lane->verdicts.known) {
    Dl_info owner;
    verdict_file_find(&lane->verdicts, lane->name,
                      dladdr(lane->witness(), &owner) ? owner.dli_fname : NULL, (int)lane->isa);
  }
  int verdict = verdict_read(&lane->verdicts, variant->name, threads, law);
  if (verdict < 0 && !is_forked_child()) { /* there, the framework's threads may be gone */
    verdict = op_examine(tc, lane, op, variant, threads, law);
    if (verdict >= 0)
      verdict_append(&lane->verdicts, variant->name, threads, verdict, law);
  }
  return verdict;
}

/* NULL: no memory. What could not be found out is not admitted in this process, and asked again in
 * the next. */
static const RecipeVerdict *recipe_verdict(TcCall *tc, Lane *lane, const TcOp *op, int threads) {
  for (int i = 0; i < n_recipe_verdicts; i++)
    if (recipe_verdicts[i].recipe == op->recipe && recipe_verdicts[i].threads == threads)
      return &recipe_verdicts[i];
  TcLaw law = {.name = ""}, *kept = NULL;
  const TcRecipe *variant = op->recipe;
  while (variant && variant_verdict(tc, lane, op, variant, threads, &law) != 1)
    variant = variant->next;
  /* Only now: the wheel may have let another thread come here meanwhile. Two rows do no harm. */
  RecipeVerdict *more = realloc(recipe_verdicts, sizeof *more * (size_t)(n_recipe_verdicts + 1));
  if (!more)
    return NULL;
  recipe_verdicts = more;
  if (*law.name && (kept = malloc(sizeof *kept)) != NULL)
    *kept = law;
  recipe_verdicts[n_recipe_verdicts] = (RecipeVerdict){op->recipe, threads, variant, kept};
  return &recipe_verdicts[n_recipe_verdicts++];
}

/* How a function's operations may run at a thread count. Never changes: calls without the GIL read
 * it. */
typedef struct Admission {
  struct Admission *next; /* of the same function, at another thread count */
  int threads;
  bool any;
  OpAdmission ops[]; /* by the operation's place in TcFunc.ops */
} Admission;

/* Examines what was not examined yet. NULL: no memory. */
static Admission *admission_new(TcCall *tc, Lane *lane, int threads) {
  const TcFunc *func = tc->func;
  Admission *admission = calloc(1, sizeof *admission + (size_t)func->n_ops * sizeof(OpAdmission));
  if (!admission)
    return NULL;
  admission->threads = threads;
  if (lane->status == RECIPES_UNKNOWN)
    lane->status = lane->load(&lane->isa) ? RECIPES_READY : RECIPES_UNAVAILABLE;
  for (int i = 0; i < func->n_ops && lane->status == RECIPES_READY; i++) {
    const RecipeVerdict *verdict =
        func->ops[i].recipe ? recipe_verdict(tc, lane, &func->ops[i], threads) : NULL;
    if (verdict)
      admission->ops[i] = (OpAdmission){verdict->admitted, verdict->law};
    admission->any |= admission->ops[i].recipe != NULL;
  }
  return admission;
}

static void admissions_free(Admission *admission) {
  for (Admission *next; admission; admission = next) {
    next = admission->next;
    free(admission);
  }
}

static bool is_product(TcClass class) {
  return class == TC_MATMUL || class == TC_LINEAR || class == TC_MV || class == TC_BMM;
}

/* What a recipe was admitted as: by a law, by the wheel's own function, itself, or a variant by its
 * name. */
static void verdict_words(const RecipeVerdict *verdict, char *words, size_t size) {
  static const TcBmm many = {.batch = 1, .m = 1, .k = 1000, .n = 1};
  static const TcCase any = {.rows = 1, .cols = 1, .k = 1, .threads = 1, .bmm = &many};
  const TcRecipe *recipe = verdict->admitted;
  const TcLaw *law = verdict->law;
  TcRule rule = recipe->rule(TC_ISA_BASELINE, &any); /* has no kernel of its own for a product */
  if (law)
    snprintf(words, size, "%s: chains of %d%s", law->name, law->chain,
             law->small ? ", small kernels" : "");
  else
    snprintf(words, size, "%s",
             is_product(recipe->class) && rule.exact && rule.way == TC_WHEEL ? "wheel"
             : recipe == verdict->recipe                                     ? "recipe"
                                                                             : recipe->name);
}
