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
  const ClassInfo *class = &class_table[op_table[op].class];
  if (n < class->least || n > class->most)
    return 0;
  int a = operands[0].rank, b = n > 1 ? operands[1].rank : 0, c = n > 2 ? operands[2].rank : 0;
  int reduced = keepdim ? a : a - 1;
  if (class->dim && (dim < 0 || dim >= a))
    return 0;
  switch (op_table[op].class) {
  case CLASS_MAP1:
  case CLASS_ROWWISE:
  case CLASS_NORM:
  case CLASS_BMM:
  case CLASS_CONV:
    return a;
  case CLASS_MAP2: /* the row is broadcast over the matrix */
    return larger(a, b);
  case CLASS_REDUCE:
  case CLASS_PICK:
    return reduced;
  case CLASS_ARGMAX:
    return reduced == 1 ? reduced : 0;
  case CLASS_MATMUL:
  case CLASS_MV:
    return a + b > 2 ? a + b - 2 : 0;
  case CLASS_LINEAR:
    return a == 2 && b == 2 && (n == 2 || c == 1) ? 2 : 0;
  case CLASS_TRANSPOSE:
    return a == 2 ? 2 : 0;
  case CLASS_COUNT:
    break;
  }
  NEVER("class");
}

bool typing_tensor(OpId op, const Type *operands, int n, int dim, bool keepdim, Type *result) {
  for (int i = 0; i < n; i++)
    if (!is_f32(operands[i]) || operands[i].rank < 1 || operands[i].rank > 2)
      return false;
  int rank = result_rank(op, operands, n, dim, keepdim);
  *result =
      (Type){TYPE_TENSOR, class_table[op_table[op].class].dtype, DEVICE_CPU, rank, NULL, NULL};
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
