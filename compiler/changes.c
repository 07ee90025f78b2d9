/* changes.c: what a module changes behind its names.
 *
 * Reads the tree, all of it: what a function does, it may do before another one is called. Leaves
 * unit->changed, the names of attributes that something in the module may assign (relu, for F.relu
 * = …), and makes every name of the module unknown when its globals may be written without a name
 * (exec, globals()).
 *
 * As in bind.c, what is found errs on the safe side: an attribute is told apart by its name alone,
 * whatever it is assigned on, and a framework's module that is handed to anybody may come back with
 * any of its attributes changed. Not seen is what other modules do.
 */
#include "tensorc.h"

#include <string.h>

bool changes_name(const Unit *unit, const char *name) {
  for (int i = 0; i < unit->changed.n; i++)
    if (strcmp(unit->changed.items[i], name) == 0)
      return true;
  return false;
}

bool changes_dotted(const Unit *unit, const char *dotted) {
  for (int i = 0; i < unit->changed.n; i++) {
    size_t n = strlen(unit->changed.items[i]);
    for (const char *at = dotted; *at; at += strcspn(at, "."), at += *at == '.')
      if (strcspn(at, ".") == n && strncmp(at, unit->changed.items[i], n) == 0)
        return true;
  }
  return false;
}

bool changes_method(const Unit *unit, const char *name) {
  return changes_name(unit, name) || changes_name(unit, "Tensor");
}

bool changes_operators(const Unit *unit) {
  static const char *const methods[] = {"add", "sub", "mul", "truediv", "matmul"};
  for (int i = 0; i < unit->changed.n; i++)
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
      const char *at = unit->changed.items[i];
      size_t n = strlen(methods[k]);
      at += strncmp(at, "__", 2) == 0 ? 2 : strlen(at);
      at += *at == 'r' || *at == 'i'; /* the reflected one, the one in place */
      if (strncmp(at, methods[k], n) == 0 && strcmp(at + n, "__") == 0)
        return true;
    }
  return changes_name(unit, "Tensor");
}

/* The last part of a dotted name. */
static const char *last_part(const char *dotted) {
  const char *dot = strrchr(dotted, '.');
  return dot ? dot + 1 : dotted;
}

static void add_change(Unit *unit, const char *dotted) {
  const char *name = arena_name(&unit->arena, last_part(dotted));
  if (!changes_name(unit, name))
    ARENA_PUSH(&unit->arena, &unit->changed, name);
}

static bool is_one_of(const char *text, const char *const *names) {
  for (; *names; names++)
    if (strcmp(text, *names) == 0)
      return true;
  return false;
}

/* Is it a module that calls of ops.def are looked up in, or the one of Python's builtins? */
static bool is_module(const char *dotted) {
  size_t n = strlen(dotted);
  for (int i = 0; i < n_rules; i++)
    if (rule_table[i].form.kind == SPELL_CALL && strncmp(rule_table[i].form.name, dotted, n) == 0 &&
        rule_table[i].form.name[n] == '.')
      return true;
  return strcmp(dotted, "builtins") == 0;
}

typedef struct Search {
  Unit *unit;
  const char *receiver; /* the first parameter of the method around, or NULL */
  bool in_class;        /* a function here is a method */
  bool in_func;         /* the function's own names are none of the module's */
} Search;

static void search(Ast *node, void *state);

/* The same for what may be a module, but is only looked at here. */
static void search_unless_module(Ast *node, Search *s) {
  const char *dotted = node ? bind_dotted(s->unit, NULL, node) : NULL;
  if (node && !(dotted && is_module(dotted)))
    search(node, s);
}

/* exec(code, space): what it binds is none of the module's, unless the module's own is named. */
static bool has_space(const Ast *call) {
  const Ast *space = call->list.n > 1 ? call->list.items[1] : NULL;
  return space && space->kind != AST_Starred && space->kind != AST_Constant;
}

static void search_call(const Ast *call, Search *s) {
  static const char *const looking[] = {"hasattr", "getattr", NULL};
  static const char *const running[] = {"exec", "eval", NULL};
  static const char *const assigning[] = {"setattr", "delattr", "__setattr__", "__delattr__",
                                          "patch",   "object",  NULL};
  bool by_name = call->a->kind == AST_Name;
  const char *callee = by_name || call->a->kind == AST_Attribute ? call->a->text : "";
  if (!(by_name && is_one_of(callee, running) && has_space(call)))
    search(call->a, s);
  bool looks = by_name && is_one_of(callee, looking);
  for (int i = 0; i < call->list.n; i++)
    if (i == 0 && looks)
      search_unless_module(call->list.items[i], s);
    else
      search(call->list.items[i], s);
  for (int i = 0; i < call->list2.n; i++)
    search(call->list2.items[i], s);
  if (!is_one_of(callee, assigning))
    return;
  /* setattr(F, "relu", …), mock.patch("torch.relu"): each text may name what is assigned. */
  bool named = false;
  for (int i = 0; i < call->list.n; i++) {
    const Ast *arg = call->list.items[i];
    if (arg->kind == AST_Constant && arg->constant == CONST_STR) {
      add_change(s->unit, arg->text);
      named = true;
    }
  }
  const char *object = call->list.n > 0 ? bind_dotted(s->unit, NULL, call->list.items[0]) : NULL;
  if (!named && object)
    add_change(s->unit, object);
}

/* The module's globals can be written without a name. */
static void forget_names(Unit *unit) {
  for (int i = 0; i < unit->names.n; i++)
    unit->names.items[i].kind = NAME_UNKNOWN;
  unit->hidden_names = true;
}

static void search_attribute(const Ast *node, Search *s) {
  static const char *const globals[] = {"__globals__", "f_globals", NULL};
  static const char *const doors[] = {"__dict__", "__setattr__", "__delattr__", NULL};
  const Ast *root = node;
  while (root->kind == AST_Attribute)
    root = root->a;
  bool own = s->receiver && root->kind == AST_Name && root->text == s->receiver;
  if (node->integer != 0 && !own)
    add_change(s->unit, node->text);
  const char *dotted = bind_dotted(s->unit, NULL, node);
  if (is_one_of(node->text, globals) || (dotted && strcmp(dotted, "sys.modules") == 0))
    forget_names(s->unit);
  const char *base = bind_dotted(s->unit, NULL, node->a);
  if (base && is_one_of(node->text, doors))
    add_change(s->unit, base);
  if (dotted && is_module(dotted) && node->integer == 0)
    add_change(s->unit, dotted); /* as a value: search() comes here for no base of another name */
  search_unless_module(node->a, s);
}

static void search_name(const Ast *node, Search *s) {
  static const char *const always[] = {"exec", "eval", "globals", NULL};
  static const char *const outside[] = {"locals", "vars", NULL};
  const char *dotted = bind_dotted(s->unit, NULL, node);
  const ModuleName *name = bind_find(s->unit, node->text);
  bool is_own = name && name->kind == NAME_FUNCTION; /* def eval(model): … */
  if (node->integer != 0)
    return; /* binding the name itself is bind.c's matter */
  if (dotted && is_module(dotted))
    add_change(s->unit, dotted);
  else if (dotted && strcmp(dotted, "sys.modules") == 0)
    forget_names(s->unit);
  else if (strcmp(node->text, "__builtins__") == 0)
    add_change(s->unit, "builtins");
  else if (!is_own &&
           (is_one_of(node->text, always) || (!s->in_func && is_one_of(node->text, outside))))
    forget_names(s->unit);
}

/* globals()["name"], read: hands out what is there and nothing to write with. */
static bool is_look_up(const Ast *node) {
  static const char *const spaces[] = {"globals", "locals", "vars", NULL};
  const Ast *call = node->a;
  return node->integer == 0 && call->kind == AST_Call && call->a->kind == AST_Name &&
         is_one_of(call->a->text, spaces) && call->list.n == 0 && call->list2.n == 0;
}

static bool only_names(const AstList *targets) {
  for (int i = 0; i < targets->n; i++)
    if (targets->items[i]->kind != AST_Name)
      return false;
  return true;
}

static void search(Ast *node, void *state) {
  Search *s = state, inner = *s;
  switch (node->kind) {
  case AST_Name:
    search_name(node, s);
    return;
  case AST_Attribute:
    search_attribute(node, s);
    return;
  case AST_Call:
    search_call(node, s);
    return;
  case AST_Subscript:
    if (is_look_up(node)) {
      search(node->b, s);
      return;
    }
    break;
  case AST_Assign: /* another name for a module changes nothing; what is assigned on it is seen */
    if (only_names(&node->list)) {
      search_unless_module(node->a, s);
      return;
    }
    break;
  case AST_Compare: /* torch is None */
    search_unless_module(node->a, s);
    for (int i = 0; i < node->list2.n; i++)
      search_unless_module(node->list2.items[i], s);
    return;
  case AST_ClassDef:
    inner.in_class = true;
    break;
  case AST_FunctionDef:
  case AST_AsyncFunctionDef: {
    const AstList *only = &node->a->list, *first = only->n > 0 ? only : &node->a->list2;
    inner.receiver = s->in_class && first->n > 0 ? first->items[0]->text : s->receiver;
    inner.in_class = false;
    inner.in_func = true;
    break;
  }
  default:
    break;
  }
  ast_each_child(node, search, &inner);
}

void changes_unit(Unit *unit) {
  Search s = {.unit = unit};
  search(unit->tree, &s);
}
