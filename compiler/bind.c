/* bind.c: what the names of a module mean.
 *
 * Reads the tree. Leaves unit->names (the module's scope: imports with their full names, functions,
 * everything else), unit->funcs with their parameters, facts from annotations and local names.
 *
 * A name that is bound twice to different things, or in a way that is not followed here, is
 * NAME_UNKNOWN: claim then refuses what depends on it. Over-approximating what is bound is safe;
 * missing a binding is not.
 */
#include "tensorc.h"

#include <string.h>

/* ── the module's scope ──────────────────────────────────────────────────────────────────────── */

static ModuleName *find(const Unit *unit, const char *name) {
  for (int i = 0; i < unit->names.n; i++)
    if (unit->names.items[i].name == name)
      return &unit->names.items[i];
  return NULL;
}

const ModuleName *bind_find(const Unit *unit, const char *name) { return find(unit, name); }

static void define(Unit *unit, const char *name, NameKind kind, const char *target, Span span) {
  ModuleName *known = find(unit, name);
  if (!known) {
    ModuleName fresh = {name, kind, target, span};
    ARENA_PUSH(&unit->arena, &unit->names, fresh);
  } else if (known->kind != kind || known->target != target) {
    known->kind = NAME_UNKNOWN;
  }
}

static void define_import(Unit *unit, const Ast *node) {
  Arena *arena = &unit->arena;
  for (int i = 0; i < node->list.n; i++) {
    const Ast *alias = node->list.items[i];
    const char *full = alias->text;
    if (node->kind == AST_ImportFrom) {
      /* A relative import never names a framework: its dots keep it apart from every absolute name.
       */
      const char *dots = node->integer > 0 ? "." : "";
      const char *module = node->text ? node->text : "";
      if (strcmp(alias->text, "*") == 0) {
        if (node->integer == 0 && spelling_marker_module(module)) {
#define MARKER(marker_module, marker, kind, dtype, device, rank, lane)                             \
  if (strcmp(module, marker_module) == 0)                                                          \
    define(unit, arena_name(arena, marker), NAME_IMPORT,                                           \
           arena_name(arena, marker_module "." marker), node->span);
#include "types.def"
#undef MARKER
        } else { /* may rebind every name that was bound before it, and the builtins */
          for (int k = 0; k < unit->names.n; k++)
            unit->names.items[k].kind = NAME_UNKNOWN;
          unit->hidden_names = true;
        }
        continue;
      }
      full = arena_format(arena, "%s%s%s%s", dots, module, *module ? "." : "", alias->text);
    }
    const char *name = alias->text2;
    if (!name) {
      /* `import a.b` binds a; `from a import b` binds b. */
      size_t n = node->kind == AST_Import ? strcspn(alias->text, ".") : strlen(alias->text);
      name = arena_intern(arena, alias->text, n);
      if (node->kind == AST_Import)
        full = name;
    }
    define(unit, name, NAME_IMPORT, full, node->span);
  }
}

typedef void OnName(Unit *unit, Func *func, const char *name, Span span);

typedef struct Binder {
  Unit *unit;
  Func *func;      /* NULL: the module's scope */
  OnName *on_name; /* called for each name that the scope binds */
} Binder;

static void binds_of(Ast *node, void *state);

/* Every name inside an assignment target is counted, also the x of x.y = …: that errs on the safe
 * side. */
static void bind_target(Ast *node, void *state) {
  Binder *b = state;
  if (node->kind == AST_Name)
    b->on_name(b->unit, b->func, node->text, node->span);
  else if (node->kind == AST_Attribute || node->kind == AST_Subscript)
    ast_each_child(node, binds_of, state);
  else
    ast_each_child(node, bind_target, state);
}

static bool is_other(const Ast *node, const char *name) {
  return node->kind == AST_Other && strcmp(node->text, name) == 0;
}

/* Calls on_name for what `node` and everything below it binds in the scope at hand. */
static void binds_of(Ast *node, void *state) {
  Binder *b = state;
  switch (node->kind) {
  case AST_FunctionDef:
  case AST_AsyncFunctionDef:
  case AST_ClassDef:
    if (!b->func && node->kind == AST_FunctionDef)
      define(b->unit, node->text, NAME_FUNCTION, NULL, node->span);
    else
      b->on_name(b->unit, b->func, node->text, node->span);
    ast_each_outer_child(node, binds_of, state);
    return; /* its body is another scope */
  case AST_Lambda:
    ast_each_outer_child(node, binds_of, state);
    return;
  case AST_Import:
  case AST_ImportFrom:
    if (!b->func) {
      define_import(b->unit, node);
      return;
    }
    for (int i = 0; i < node->list.n; i++) {
      const Ast *alias = node->list.items[i];
      size_t n = node->kind == AST_Import ? strcspn(alias->text, ".") : strlen(alias->text);
      b->on_name(b->unit, b->func,
                 alias->text2 ? alias->text2 : arena_intern(&b->unit->arena, alias->text, n),
                 node->span);
    }
    return;
  case AST_Assign:
  case AST_Delete:
    for (int i = 0; i < node->list.n; i++)
      bind_target(node->list.items[i], state);
    if (node->a)
      binds_of(node->a, state);
    return;
  case AST_AugAssign:
  case AST_AnnAssign:
  case AST_For:
  case AST_NamedExpr:
    bind_target(node->a, state);
    break;
  default:
    break;
  }
  if (is_other(node, "AsyncFor") && node->rest.n > 0)
    bind_target(node->rest.items[0], state);
  if (is_other(node, "withitem"))
    for (int i = 1; i < node->rest.n; i++)
      bind_target(node->rest.items[i], state);
  if (is_other(node, "TypeAlias") && node->rest.n > 0)
    bind_target(node->rest.items[0], state);
  if (node->kind == AST_Other && node->text2) /* except … as name, match captures */
    b->on_name(b->unit, b->func, node->text2, node->span);
  ast_each_child(node, binds_of, state);
}

static void on_module_name(Unit *unit, Func *func, const char *name, Span span) {
  (void)func;
  define(unit, name, NAME_OTHER, NULL, span);
}

/* `global x` in a function may rebind x at any time. */
static void find_globals(Ast *node, void *state) {
  Unit *unit = state;
  if (node->kind == AST_Global)
    for (int i = 0; i < node->names.n; i++) {
      define(unit, node->names.items[i]->text, NAME_OTHER, NULL, node->span);
      find(unit, node->names.items[i]->text)->kind = NAME_UNKNOWN;
    }
  ast_each_child(node, find_globals, state);
}

/* ── dotted names ────────────────────────────────────────────────────────────────────────────── */

bool bind_is_local(const Func *func, const char *name) {
  for (int i = 0; i < func->locals.n; i++)
    if (func->locals.items[i] == name)
      return true;
  return false;
}

bool bind_is_builtin(const Unit *unit, const Func *func, const Ast *expr, const char *name) {
  return expr && expr->kind == AST_Name && strcmp(expr->text, name) == 0 && !unit->hidden_names &&
         !(func && bind_is_local(func, expr->text)) && !bind_find(unit, expr->text) &&
         !changes_name(unit, name) && !changes_name(unit, "builtins");
}

/* `shown`: for reports, which name what is written where nothing is imported as it. */
static const char *dotted_name(Arena *arena, const Unit *unit, const Func *func, const Ast *expr,
                               bool shown) {
  if (expr->kind == AST_Attribute) {
    const char *base = dotted_name(arena, unit, func, expr->a, shown);
    bool known = base && (shown || !changes_name(unit, expr->text));
    return known ? arena_format(arena, "%s.%s", base, expr->text) : NULL;
  }
  if (expr->kind != AST_Name)
    return NULL;
  const ModuleName *name = bind_find(unit, expr->text);
  bool imported = name && name->kind == NAME_IMPORT && !(func && bind_is_local(func, expr->text));
  if (shown)
    return imported ? name->target : expr->text;
  bool known = imported && !changes_name(unit, expr->text) && !changes_dotted(unit, name->target);
  return known ? name->target : NULL;
}

const char *bind_dotted(Unit *unit, const Func *func, const Ast *expr) {
  return dotted_name(&unit->arena, unit, func, expr, false);
}

const char *bind_shown(Arena *arena, const Unit *unit, const Func *func, const Ast *expr) {
  return dotted_name(arena, unit, func, expr, true);
}

/* ── facts from annotations ──────────────────────────────────────────────────────────────────── */

static bool fact_of_dotted(const char *dotted, Fact *fact) {
  return dotted && spelling_marker(dotted, &fact->type, &fact->lane);
}

/* jaxtyping: Float[Tensor, "b d"]. `array` is the dotted name of the array type: torch.Tensor,
 * tensorflow.Tensor. */
static bool fact_of_jaxtyping(const char *marker, const char *array, const char *shape,
                              Fact *fact) {
  static const char prefix[] = "jaxtyping.";
  Lane lane = array ? spelling_lane(array) : LANE_NONE;
  if (!marker || lane == LANE_NONE || strncmp(marker, prefix, sizeof prefix - 1) != 0 ||
      strcmp(array + strlen(lane_table[lane].package), ".Tensor") != 0)
    return false;
  fact->lane = lane;
  return spelling_jaxtyping(marker + sizeof prefix - 1, shape, &fact->type);
}

static bool fact_of_scalar(const Unit *unit, const char *name, Fact *fact) {
  static const struct {
    const char *name;
    TypeKind kind;
  } scalars[] = {
      {"int", TYPE_INT}, {"float", TYPE_FLOAT}, {"bool", TYPE_BOOL}, {"None", TYPE_NONE}};
  for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
    if (strcmp(name, scalars[i].name) == 0 && !unit->hidden_names) {
      fact->type = (Type){.kind = scalars[i].kind};
      return true;
    }
  return false;
}

/* A dotted name at the start of `text`, resolved; *end is behind it. */
static const char *dotted_in_text(Unit *unit, const char *text, const char **end) {
  text += strspn(text, " \t");
  size_t first = strcspn(text, " \t.[],'\"()|"), n = first;
  while (text[n] == '.')
    n += 1 + strcspn(text + n + 1, " \t.[],'\"()|");
  *end = text + n;
  const char *name = arena_intern(&unit->arena, text, first);
  const ModuleName *known = bind_find(unit, name);
  if (!known)
    return n == first ? name : NULL;
  if (known->kind != NAME_IMPORT)
    return NULL;
  return arena_format(&unit->arena, "%s%.*s", known->target, (int)(n - first), text + first);
}

/* A quoted annotation: a dotted name, or a jaxtyping subscript with a quoted shape. */
static bool fact_of_text(Unit *unit, const char *text, Fact *fact) {
  const char *at;
  const char *dotted = dotted_in_text(unit, text, &at);
  if (!dotted)
    return false;
  at += strspn(at, " \t");
  if (!*at)
    return (!bind_find(unit, dotted) && fact_of_scalar(unit, dotted, fact)) ||
           fact_of_dotted(dotted, fact);
  if (*at != '[')
    return false;
  const char *array = dotted_in_text(unit, at + 1, &at);
  at += strspn(at, " \t");
  if (*at != ',')
    return false;
  at += 1 + strspn(at + 1, " \t");
  char quote = *at;
  if (quote != '"' && quote != '\'')
    return false;
  const char *close = strchr(at + 1, quote);
  if (!close)
    return false;
  const char *shape = arena_intern(&unit->arena, at + 1, (size_t)(close - at - 1));
  at = close + 1 + strspn(close + 1, " \t");
  if (*at != ']' || at[1 + strspn(at + 1, " \t")])
    return false;
  return fact_of_jaxtyping(dotted, array, shape, fact);
}

static bool fact_of(Unit *unit, const Ast *annotation, Fact *fact) {
  *fact = (Fact){{0}, LANE_NONE, FACT_ANNOTATION, annotation->span};
  switch (annotation->kind) {
  case AST_Constant:
    if (annotation->constant == CONST_NONE) {
      fact->type.kind = TYPE_NONE;
      return true;
    }
    return annotation->constant == CONST_STR && fact_of_text(unit, annotation->text, fact);
  case AST_Name:
    if (!bind_find(unit, annotation->text))
      return fact_of_scalar(unit, annotation->text, fact);
    return fact_of_dotted(bind_dotted(unit, NULL, annotation), fact);
  case AST_Attribute:
    return fact_of_dotted(bind_dotted(unit, NULL, annotation), fact);
  case AST_Subscript:
    if (annotation->b && annotation->b->kind == AST_Tuple && annotation->b->list.n == 2) {
      const Ast *array = annotation->b->list.items[0], *shape = annotation->b->list.items[1];
      if (shape->kind == AST_Constant && shape->constant == CONST_STR)
        return fact_of_jaxtyping(bind_dotted(unit, NULL, annotation->a),
                                 bind_dotted(unit, NULL, array), shape->text, fact);
    }
    return false;
  default:
    return false;
  }
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

static void on_local_name(Unit *unit, Func *func, const char *name, Span span) {
  (void)span;
  if (!bind_is_local(func, name))
    ARENA_PUSH(&unit->arena, &func->locals, name);
}

static void add_param(Unit *unit, Func *func, const Ast *arg, ParamKind kind,
                      const Ast *default_value) {
  Param *param = &func->params[func->n_params++];
  *param =
      (Param){.name = arg->text, .kind = kind, .default_value = default_value, .span = arg->span};
  param->fact = (Fact){{0}, LANE_NONE, FACT_NONE, arg->span};
  if (arg->a && !fact_of(unit, arg->a, &param->fact))
    param->fact.type.kind = TYPE_UNKNOWN;
  on_local_name(unit, func, arg->text, arg->span);
}

static void bind_params(Unit *unit, Func *func) {
  const Ast *args = func->def->a;
  int n_positional = args->list.n + args->list2.n;
  int first_default = n_positional - args->defaults.n;
  func->params = ARENA_ARRAY(&unit->arena, Param, n_positional + args->kwonly.n + 1);
  for (int i = 0; i < n_positional; i++) {
    bool only = i < args->list.n;
    add_param(unit, func, only ? args->list.items[i] : args->list2.items[i - args->list.n],
              only ? PARAM_POSITIONAL_ONLY : PARAM_POSITIONAL_OR_KEYWORD,
              i >= first_default ? args->defaults.items[i - first_default] : NULL);
  }
  for (int i = 0; i < args->kwonly.n; i++)
    add_param(unit, func, args->kwonly.items[i], PARAM_KEYWORD_ONLY, args->kw_defaults.items[i]);
  if (args->vararg)
    on_local_name(unit, func, args->vararg->text, args->vararg->span);
  if (args->kwarg)
    on_local_name(unit, func, args->kwarg->text, args->kwarg->span);
}

/* The name follows `def` (or `async def`), with nothing but blanks and continued lines between. */
static Span name_span_of(const Unit *unit, const Ast *def) {
  const char *at = unit->lines[def->span.line - 1] + def->span.col;
  at += (def->kind == AST_AsyncFunctionDef ? strcspn(at, "d") : 0) + strlen("def");
  at += strspn(at, " \t\f\\\r\n");
  int line = def->span.line;
  while (line < unit->n_lines && unit->lines[line] <= at)
    line++;
  int col = (int)(at - unit->lines[line - 1]);
  return (Span){line, col, line, col + (int)strcspn(at, " \t\f\\\r\n([")};
}

typedef struct Finder {
  Unit *unit;
  Place place;
  const char *prefix; /* of qualnames: "", "C.", "f.<locals>." */
} Finder;

static void find_funcs(Ast *node, void *state);

static void add_func(Finder *finder, Ast *def) {
  Unit *unit = finder->unit;
  Func *func = ARENA_NEW(&unit->arena, Func);
  func->def = def;
  func->name = def->text;
  func->qualname = arena_format(&unit->arena, "%s%s", finder->prefix, def->text);
  func->place = finder->place;
  func->name_span = name_span_of(unit, def);
  bind_params(unit, func);
  Binder binder = {unit, func, on_local_name};
  for (int i = 0; i < def->list.n; i++)
    binds_of(def->list.items[i], &binder);
  func->result = (Fact){{0}, LANE_NONE, FACT_NONE, func->name_span};
  if (def->b && !fact_of(unit, def->b, &func->result))
    func->result.type.kind = TYPE_UNKNOWN;
  ARENA_PUSH(&unit->arena, &unit->funcs, func);

  Finder inner = {unit, PLACE_FUNCTION, arena_format(&unit->arena, "%s.<locals>.", func->qualname)};
  for (int i = 0; i < def->list.n; i++)
    find_funcs(def->list.items[i], &inner);
}

static void find_funcs(Ast *node, void *state) {
  Finder *finder = state;
  if (node->kind == AST_FunctionDef || node->kind == AST_AsyncFunctionDef) {
    add_func(finder, node);
  } else if (node->kind == AST_ClassDef) {
    Finder inner = {finder->unit, finder->place == PLACE_FUNCTION ? PLACE_FUNCTION : PLACE_CLASS,
                    arena_format(&finder->unit->arena, "%s%s.", finder->prefix, node->text)};
    for (int i = 0; i < node->list.n; i++)
      find_funcs(node->list.items[i], &inner);
  } else {
    ast_each_child(node, find_funcs, finder);
  }
}

void bind_unit(Unit *unit) {
  Binder module = {unit, NULL, on_module_name};
  for (int i = 0; i < unit->tree->list.n; i++)
    binds_of(unit->tree->list.items[i], &module);
  find_globals(unit->tree, unit);
  changes_unit(unit);
  Finder finder = {unit, PLACE_MODULE, ""};
  for (int i = 0; i < unit->tree->list.n; i++)
    find_funcs(unit->tree->list.items[i], &finder);
}
