/* typing.c: the type of an operation's result.
 *
 * Reads nothing but an operation, the types of its operands and its attributes, so that it holds
 * for IR from any source. claim asks it what type a new instruction has, ir_verify whether an
 * instruction still has it.
 */
#include "tensorc.h"

static bool is_f32(Type type) {
  return type.kind == TYPE_TENSOR && type.dtype == DTYPE_F32 && type.device == DEVICE_CPU;
}

static int larger(int a, int b) { return a > b ? a : b; }

/* The rank of what `op` gives, or 0: its operands do not fit. */
static int result_rank(OpId op, const Type *operands, int n, int dim, bool keepdim) {
  int a = operands[0].rank, b = n > 1 ? operands[1].rank : 0, c = n > 2 ? operands[2].rank : 0;
  int reduced = keepdim ? a : a - 1;
  bool has_dim = dim >= 0 && dim < a;
  switch (op_table[op].class) {
  case CLASS_MAP1:
    return n == 1 ? a : 0;
  case CLASS_MAP2: /* the row is broadcast over the matrix */
    return n == 2 ? larger(a, b) : 0;
  case CLASS_REDUCE:
    return n == 1 && has_dim ? reduced : 0;
  case CLASS_ARGMAX:
    return n == 1 && has_dim && reduced == 1 ? reduced : 0;
  case CLASS_ROWWISE:
    return n == 1 && has_dim ? a : 0;
  case CLASS_MATMUL:
    return n == 2 && a + b > 2 ? a + b - 2 : 0;
  case CLASS_LINEAR:
    return a == 2 && b == 2 && (n == 2 || (n == 3 && c == 1)) ? 2 : 0;
  case CLASS_TRANSPOSE:
    return n == 1 && a == 2 ? 2 : 0;
  }
  NEVER("class");
}

bool typing_tensor(OpId op, const Type *operands, int n, int dim, bool keepdim, Type *result) {
  for (int i = 0; i < n; i++)
    if (!is_f32(operands[i]) || operands[i].rank < 1 || operands[i].rank > 2)
      return false;
  int rank = n > 0 ? result_rank(op, operands, n, dim, keepdim) : 0;
  DType dtype = op_table[op].class == CLASS_ARGMAX ? DTYPE_I64 : DTYPE_F32;
  *result = (Type){TYPE_TENSOR, dtype, DEVICE_CPU, rank};
  return rank > 0;
}

bool typing_arith(OperatorId operator, Type a, Type b, Type *result) {
  bool floats = a.kind == TYPE_FLOAT;
  *result = (Type){.kind = floats || operator == OPERATOR_TRUEDIV ? TYPE_FLOAT : TYPE_INT};
  return operator_table[operator].ints && type_equal(a, b) &&
         (a.kind == TYPE_INT || (floats && operator != OPERATOR_POW));
}

bool typing_compare(OperatorId operator, Type a, Type b) {
  return operator_table[operator].int_first && (a.kind == TYPE_INT || a.kind == TYPE_FLOAT) &&
         (b.kind == TYPE_INT || b.kind == TYPE_FLOAT);
}

bool typing_cast(Type from, Type to) {
  switch (to.kind) {
  case TYPE_BOOL:
    return from.kind == TYPE_INT || from.kind == TYPE_FLOAT;
  case TYPE_INT:
    return from.kind == TYPE_BOOL;
  case TYPE_FLOAT:
    return from.kind == TYPE_BOOL || from.kind == TYPE_INT;
  default:
    return false;
  }
}
