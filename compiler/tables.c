/* tables.c: operators.def, ops.def and signatures.def as arrays, and the names of types.
 *
 * Reads only the .def files. Leaves constant tables that every pass shares.
 */
#include "tensorc.h"

#include <stdio.h>
#include <string.h>

const DTypeInfo dtype_table[DTYPE_COUNT] = {
#define DTYPE(id, text, c_type, bytes, code) {text, c_type, bytes},
#include "../runtime/dtypes.def"
};

#define CLASS(id, name, least, most, dim, keepdim, dtype)                                          \
  {name, "TC_" #id, least, most, dim, keepdim, DTYPE_##dtype},
const ClassInfo class_table[CLASS_COUNT] = {
#include "../runtime/classes.def"
};

#define OP(op, class) {#op, CLASS_##class},
#define RUN(...)
#define TORCH(...)
#define TC_TORCH(...)
#define TF(...)
const Op op_table[OP_COUNT] = {
#include "ops.def"
};
#undef OP
#undef RUN

#define OP(...)
#define RUN(op, lane, wheel, name, overload, recipe)                                               \
  [LANE_##lane][OP_##op] = {#wheel, name, overload, recipe},
const Run run_table[LANE_COUNT][OP_COUNT] = {
#include "ops.def"
};
#undef RUN
#undef TORCH
#undef TC_TORCH
#undef TF

const Operator operator_table[OPERATOR_COUNT] = {
#define ARITH(id, text, ints, floats) [OPERATOR_##id] = {text, ints, floats, NULL, NULL},
#define COMPARISON(id, text, int_first, float_first)                                               \
  [OPERATOR_##id] = {text, NULL, NULL, int_first, float_first},
#include "operators.def"
#undef ARITH
#undef COMPARISON
};

OperatorId operator_find(const char *text) {
  for (OperatorId id = OPERATOR_NONE + 1; id < OPERATOR_COUNT; id++)
    if (strcmp(operator_table[id].text, text) == 0)
      return id;
  return OPERATOR_NONE;
}

#define RUN(...)
#define TORCH(op, kind, spelling, signature, ranks, id, code, reject, misused)                     \
  {{OP_##op, LANE_TORCH, SPELL_##kind, spelling, SIGNATURE_##signature, ranks},                    \
   {"rextio-torch/" id, "RXTP-TORCH-" code, "RXTP-TORCH-" reject, "RXTP-TORCH-" misused}},
#define TC_TORCH(op, kind, spelling, signature, ranks, id, code)                                   \
  {{OP_##op, LANE_TORCH, SPELL_##kind, spelling, SIGNATURE_##signature, ranks},                    \
   {"tensorc-torch/" id, "TC-TORCH-" code, "RXT030", "RXT030"}},
#define TF(op, kind, spelling, signature, ranks, id, code, reject, misused)                        \
  {{OP_##op, LANE_TENSORFLOW, SPELL_##kind, spelling, SIGNATURE_##signature, ranks},               \
   {"rextio-tensorflow/" id, "RXTP-TENSORFLOW-" code, "RXTP-TENSORFLOW-" reject,                   \
    "RXTP-TENSORFLOW-" misused}},
const Rule rule_table[] = {
#include "ops.def"
};
#undef OP
#undef RUN
#undef TORCH
#undef TC_TORCH
#undef TF

#define OP(...)
#define RUN(...)
#define TORCH(...)
#define TC_TORCH(...)
#define TF(...)
#define GRAPH(id, name) {.schema = name, .kind = ROW_RECIPE, .op = OP_##id},
#define VIEW(name, view_kind) {.schema = name, .kind = ROW_VIEW, .view = VIEW_##view_kind},
#define POINT(name, compute, c_text)                                                               \
  {.schema = name, .kind = ROW_POINT, .of = OF_##compute, .text = c_text},
#define GATHER(name, gather_kind)                                                                  \
  {.schema = name, .kind = ROW_GATHER, .gather = GATHER_##gather_kind},
#define POOL(name, pool_kind) {.schema = name, .kind = ROW_POOL, .pool = POOL_##pool_kind},
#define ONCE(name) {.schema = name, .kind = ROW_ONCE},
const GraphRow graph_table[] = {
#include "ops.def"
};
#undef OP
#undef RUN
#undef TORCH
#undef TC_TORCH
#undef TF

const int n_graph_rows = (int)(sizeof graph_table / sizeof graph_table[0]);

const GraphRow *graph_row(const char *schema) {
  for (int i = 0; i < n_graph_rows; i++)
    if (strcmp(graph_table[i].schema, schema) == 0)
      return &graph_table[i];
  return NULL;
}

const int n_rules = (int)(sizeof rule_table / sizeof rule_table[0]);

const Signature signature_table[SIGNATURE_COUNT] = {
#define SIGNATURE(id, text, n_tensors, strict, ...) {text, n_tensors, strict, {__VA_ARGS__}},
#include "signatures.def"
#undef SIGNATURE
};

bool form_takes(const Form *form, const int *ranks, int n_ranks) {
  /* An alternative is "r,r,r>r" with one digit a rank. */
  for (const char *at = form->ranks; *at;) {
    int i = 0;
    bool fits = true;
    for (; *at >= '0' && *at <= '9'; i++) {
      fits = fits && i < n_ranks && ranks[i] == *at - '0';
      at++;
      if (*at == ',')
        at++;
    }
    if (*at != '>' || at[1] < '0' || at[1] > '9')
      NEVER("ranks in ops.def");
    if (fits && i == n_ranks)
      return true;
    at += 2;
    if (*at == ' ')
      at++;
  }
  return false;
}

bool form_mentions_rank(const Form *form, int rank) {
  bool operands = true;
  for (const char *at = form->ranks; *at; at++) {
    if (*at == '>')
      operands = false;
    else if (*at == ' ')
      operands = true;
    else if (operands && *at == '0' + rank)
      return true;
  }
  return false;
}

bool type_equal(Type a, Type b) {
  if (a.kind != b.kind)
    return false;
  if (a.kind == TYPE_TUPLE) {
    bool equal = a.rank == b.rank;
    for (int i = 0; equal && i < a.rank; i++)
      equal = type_equal(a.items[i], b.items[i]);
    return equal;
  }
  if (a.kind != TYPE_TENSOR)
    return true;
  size_t bytes = sizeof a.shape->sizes[0] * (size_t)a.rank;
  return a.dtype == b.dtype && a.device == b.device && a.rank == b.rank &&
         (a.shape == b.shape ||
          (a.shape && b.shape && memcmp(a.shape->sizes, b.shape->sizes, bytes) == 0 &&
           memcmp(a.shape->strides, b.shape->strides, bytes) == 0));
}

const char *type_name(Type type) {
  static const char *const tensors[2][2][3] = {
      {{"f32[0]", "f32[1]", "f32[2]"}, {"f32cuda0[0]", "f32cuda0[1]", "f32cuda0[2]"}},
      {{"i64[0]", "i64[1]", "i64[2]"}, {"i64cuda0[0]", "i64cuda0[1]", "i64cuda0[2]"}},
  };
  switch (type.kind) {
  case TYPE_UNKNOWN:
    return "unknown";
  case TYPE_NONE:
    return "none";
  case TYPE_BOOL:
    return "bool";
  case TYPE_INT:
    return "int";
  case TYPE_FLOAT:
    return "float";
  case TYPE_TUPLE:
    return "tuple";
  case TYPE_OBJECT:
    return "object";
  case TYPE_TENSOR:
    if (type.rank < 0 || type.rank > 2 || type.dtype > DTYPE_I64 || type.shape)
      NEVER("a tensor of a graph");
    return tensors[type.dtype][type.device][type.rank];
  }
  NEVER("type kind");
}

static void print_numbers(Buf *out, const int64_t *numbers, int n) {
  for (int i = 0; i < n; i++)
    buf_addf(out, i ? ",%lld" : "%lld", (long long)numbers[i]);
}

void type_print(Buf *out, Type type) {
  if (type.kind == TYPE_TUPLE) {
    for (int i = 0; i < type.rank; i++) {
      buf_add(out, i ? ", " : "(");
      type_print(out, type.items[i]);
    }
    buf_add(out, type.rank ? ")" : "()");
  } else if (type.kind == TYPE_TENSOR && type.shape) {
    buf_addf(out, "%s[", dtype_table[type.dtype].text);
    print_numbers(out, type.shape->sizes, type.rank);
    buf_add(out, "](");
    print_numbers(out, type.shape->strides, type.rank);
    buf_add(out, ")");
  } else {
    buf_add(out, type_name(type));
  }
}

int64_t type_elements(Type type) {
  int64_t n = 1;
  for (int i = 0; i < type.rank; i++)
    n *= type.shape->sizes[i];
  return n;
}

const char *type_key(Type type, Lane lane) {
  static const struct {
    DType dtype;
    Device device;
    int rank;
    const char *keys[3];
  } keys[] = {
#define KEY(dtype, device, rank, text)                                                             \
  {                                                                                                \
    dtype, device, rank, { text, "rextio-torch/" text, "rextio-tensorflow/" text }                 \
  }
      KEY(DTYPE_F32, DEVICE_CPU, 1, "tensor-f32-cpu-1d"),
      KEY(DTYPE_F32, DEVICE_CPU, 2, "tensor-f32-cpu-2d"),
      KEY(DTYPE_I64, DEVICE_CPU, 1, "tensor-i64-cpu-1d"),
      KEY(DTYPE_F32, DEVICE_CUDA0, 1, "tensor-f32-cuda0-1d"),
      KEY(DTYPE_F32, DEVICE_CUDA0, 2, "tensor-f32-cuda0-2d"),
#undef KEY
  };
  if (type.kind != TYPE_TENSOR)
    return type_name(type);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (keys[i].dtype == type.dtype && keys[i].device == type.device && keys[i].rank == type.rank)
      return keys[i].keys[lane];
  return type_name(type);
}

const LaneInfo lane_table[LANE_COUNT] = {
    [LANE_TORCH] = {"rextio-torch", "torch", "PyTorch", "RXTP-TORCH-010", "RXTP-TORCH-010"},
    [LANE_TENSORFLOW] = {"rextio-tensorflow", "tensorflow", "TensorFlow", "RXTP-TENSORFLOW-010",
                         "RXTP-TENSORFLOW-034"},
};
