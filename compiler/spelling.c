/* spelling.c: from names as users write them to rows of the tables.
 *
 * Reads ops.def and types.def. Every name here is a full dotted name: aliases are bind.c's business.
 */
#include "tensorc.h"

#include <string.h>

bool spelling_find(SpellingKind kind, const char *name, int *first, int *end)
{
  int i = 0;
  while (i < n_rules && (rule_table[i].kind != kind || strcmp(rule_table[i].name, name) != 0))
    i++;
  if (i == n_rules)
    return false;
  *first = i;
  while (i < n_rules && rule_table[i].kind == kind && strcmp(rule_table[i].name, name) == 0)
    i++;
  *end = i;
  return true;
}

static const struct Marker {
  const char *module, *name;
  Type type;
  Lane lane;
} markers[] = {
#define MARKER(module, name, kind, dtype, device, rank, lane)                                                           \
  {module, name, {TYPE_##kind, DTYPE_##dtype, DEVICE_##device, rank}, LANE_##lane},
#include "types.def"
#undef MARKER
};

bool spelling_marker(const char *dotted, Type *type, Lane *lane)
{
  for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
    size_t n = strlen(markers[i].module);
    if (strncmp(dotted, markers[i].module, n) == 0 && dotted[n] == '.' && strcmp(dotted + n + 1, markers[i].name) == 0) {
      *type = markers[i].type;
      *lane = markers[i].lane;
      return true;
    }
  }
  return false;
}

bool spelling_marker_module(const char *module)
{
  for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++)
    if (strcmp(module, markers[i].module) == 0)
      return true;
  return false;
}

bool spelling_jaxtyping(const char *dtype, const char *shape, Type *type)
{
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
    *type = (Type){TYPE_TENSOR, dtypes[i].dtype, DEVICE_CPU, rank};
    return true;
  }
  return false;
}

Lane spelling_lane(const char *dotted)
{
  static const struct {
    const char *root;
    Lane lane;
  } roots[] = {{"torch", LANE_TORCH}, {"tensorflow", LANE_TENSORFLOW}};
  for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
    size_t n = strlen(roots[i].root);
    if (strncmp(dotted, roots[i].root, n) == 0 && (dotted[n] == 0 || dotted[n] == '.'))
      return roots[i].lane;
  }
  return LANE_NONE;
}
