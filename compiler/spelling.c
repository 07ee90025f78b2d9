/* spelling.c: from names as users write them to rows of the tables.
 *
 * Reads ops.def and types.def. Every name here is a full dotted name: aliases are bind.c's
 * business.
 */
#include "tensorc.h"

#include <string.h>

static bool is_spelled(const Rule *rule, Lane lane, SpellingKind kind, const char *name) {
  return rule->form.lane == lane && rule->form.kind == kind && strcmp(rule->form.name, name) == 0;
}

bool spelling_find(Lane lane, SpellingKind kind, const char *name, int *first, int *end) {
  int i = 0;
  while (i < n_rules && !is_spelled(&rule_table[i], lane, kind, name))
    i++;
  if (i == n_rules)
    return false;
  *first = i;
  while (i < n_rules && is_spelled(&rule_table[i], lane, kind, name))
    i++;
  *end = i;
  return true;
}

const char *form_text(Arena *arena, const Form *form) {
  const char *signature = signature_table[form->signature].text;
  switch (form->kind) {
  case SPELL_CALL:
    return arena_format(arena, "%s%s", form->name, signature);
  case SPELL_METHOD: {
    /* The receiver is the signature's first name: "(x, dim)" becomes "x.sum(dim)". */
    size_t receiver = strcspn(signature + 1, ",)");
    const char *rest = signature + 1 + receiver;
    rest += *rest == ',' ? 2 : 0;
    rest += strncmp(rest, "*, ", 3) == 0 ? 3 : 0;
    return arena_format(arena, "%.*s.%s(%s", (int)receiver, signature + 1, form->name, rest);
  }
  case SPELL_OPERATOR:
    return arena_format(arena, "a %s b", form->name);
  }
  NEVER("a kind of spelling without a form");
}

static const struct Marker {
  const char *module, *name;
  Type type;
  Lane lane;
} markers[] = {
#define MARKER(module, name, kind, dtype, device, rank, lane)                                      \
  {module, name, {TYPE_##kind, DTYPE_##dtype, DEVICE_##device, rank, NULL, NULL}, LANE_##lane},
#include "types.def"
#undef MARKER
};

bool spelling_marker(const char *dotted, Type *type, Lane *lane) {
  for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
    size_t n = strlen(markers[i].module);
    if (strncmp(dotted, markers[i].module, n) == 0 && dotted[n] == '.' &&
        strcmp(dotted + n + 1, markers[i].name) == 0) {
      *type = markers[i].type;
      *lane = markers[i].lane;
      return true;
    }
  }
  return false;
}

bool spelling_marker_module(const char *module) {
  for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
    if (strcmp(module, markers[i].module) == 0)
      return true;
  return false;
}

bool spelling_jaxtyping(const char *dtype, const char *shape, Type *type) {
  static const struct {
    const char *name;
    DType dtype;
  } dtypes[] = {{"Float", DTYPE_F32}, {"Float32", DTYPE_F32}, {"Int64", DTYPE_I64}};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    if (strcmp(dtype, dtypes[i].name) != 0)
      continue;
    int rank = 0;
    for (const char *at = shape; *at; rank++) {
      at += strspn(at, " \t\n");
      if (!*at)
        break;
      /* "..." and "*b" stand for any number of dimensions: no rank is promised. */
      if (strncmp(at, "...", 3) == 0 || *at == '*')
        return false;
      at += strcspn(at, " \t\n");
    }
    if (rank < 1 || rank > 2 || (dtypes[i].dtype == DTYPE_I64 && rank != 1))
      return false;
    *type = (Type){TYPE_TENSOR, dtypes[i].dtype, DEVICE_CPU, rank, NULL, NULL};
    return true;
  }
  return false;
}

Lane spelling_lane(const char *dotted) {
  for (Lane lane = LANE_NONE + 1; lane < LANE_COUNT; lane++) {
    size_t n = strlen(lane_table[lane].package);
    if (strncmp(dotted, lane_table[lane].package, n) == 0 && (dotted[n] == 0 || dotted[n] == '.'))
      return lane;
  }
  return LANE_NONE;
}
