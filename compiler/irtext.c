/* irtext.c: the IR of a function as text.
 *
 * One instruction a line, blocks indented, values numbered as in the IR: what `tensorc show --stage
 * ir` prints and what the golden tests hold. It prints what claim and fold decided and leaves out
 * what plan adds, so that the text is the same before and after plan.
 */
#include "tensorc.h"

#include <string.h>

typedef struct Printer {
  Buf *out;
  const Func *func;
  int depth; /* of blocks around the line */
} Printer;

/* The name as in the source. A temporary has none, and two slots of one name need telling apart:
 * both get the slot's index behind a dot, which no name of the source can hold. */
static void print_slot(Printer *p, const Slot *slot) {
  bool alone = slot->name[0] != '\0';
  for (int i = 0; i < p->func->slots.n; i++) {
    const Slot *other = p->func->slots.items[i];
    alone = alone && (other == slot || strcmp(other->name, slot->name) != 0);
  }
  buf_add(p->out, slot->name);
  if (!alone)
    buf_addf(p->out, ".%d", slot->index);
}

static void print_args(Printer *p, const Ir *ir) {
  for (int i = 0; i < ir->n_args; i++)
    buf_addf(p->out, "%s%%%d", i > 0 ? ", " : " ", ir->args[i]->id);
}

static void print_constant(Printer *p, const Ir *ir) {
  switch (ir->type.kind) {
  case TYPE_BOOL:
    buf_add(p->out, ir->integer != 0 ? " True" : " False");
    break;
  case TYPE_INT:
    buf_addf(p->out, " %lld", (long long)ir->integer);
    break;
  case TYPE_FLOAT:
    buf_add(p->out, " ");
    buf_add_double(p->out, ir->number);
    break;
  case TYPE_NONE: /* the type says it all */
  case TYPE_UNKNOWN:
  case TYPE_TENSOR:
  case TYPE_TUPLE:
  case TYPE_OBJECT:
    break;
  }
}

/* An argument of a graph's operation, or one of its results. */
static void print_attr(Printer *p, const Ir *ir, const Attr *attr) {
  if (attr->keyword)
    buf_addf(p->out, "%s=", attr->keyword);
  switch (attr->kind) {
  case ATTR_VALUE:
    buf_addf(p->out, "%%%d", ir->args[attr->operand]->id);
    break;
  case ATTR_NONE:
    buf_add(p->out, "none");
    break;
  case ATTR_BOOL:
    buf_add(p->out, attr->integer ? "true" : "false");
    break;
  case ATTR_INT:
    buf_addf(p->out, "%lld", (long long)attr->integer);
    break;
  case ATTR_FLOAT:
    buf_add_double(p->out, attr->number);
    break;
  case ATTR_TEXT:
    buf_add_json(p->out, attr->text);
    break;
  case ATTR_WORD:
    buf_add(p->out, attr->text);
    break;
  case ATTR_LIST:
    buf_add(p->out, "[");
    for (int i = 0; i < attr->n_items; i++) {
      buf_add(p->out, i ? ", " : "");
      print_attr(p, ir, &attr->items[i]);
    }
    buf_add(p->out, "]");
  }
}

static void print_attrs(Printer *p, const Ir *ir) {
  for (int i = 0; i < ir->n_attrs; i++) {
    buf_add(p->out, i ? ", " : " ");
    print_attr(p, ir, &ir->attrs[i]);
  }
}

static void print_tensor_options(Printer *p, const Ir *ir) {
  if (class_table[op_table[ir->tensor_op].class].dim)
    buf_addf(p->out, " dim=%d", ir->dim);
  if (ir->keepdim)
    buf_add(p->out, " keepdim");
}

/* The right side of a value: "tensor relu f32[2] %2", "arith int %0 + %1". */
static void print_value(Printer *p, const Ir *ir) {
  buf_addf(p->out, "%%%d = %s ", ir->id, ir_name(ir->op));
  if (ir->op == IR_TENSOR)
    buf_addf(p->out, "%s ", op_table[ir->tensor_op].name);
  if (ir->op == IR_NODE)
    buf_addf(p->out, "%s ", ir->schema);
  type_print(p->out, ir->type);
  switch (ir->op) {
  case IR_CONST:
    print_constant(p, ir);
    break;
  case IR_GET:
    buf_add(p->out, " ");
    print_slot(p, ir->slot);
    if (ir->checked)
      buf_add(p->out, " checked");
    break;
  case IR_ARITH:
  case IR_COMPARE:
    buf_addf(p->out, " %%%d %s %%%d", ir->args[0]->id, operator_table[ir->operator].text,
             ir->args[1]->id);
    break;
  case IR_INPUT:
    buf_addf(p->out, " %s", ir->name);
    break;
  case IR_NODE:
    print_attrs(p, ir);
    break;
  default:
    print_args(p, ir);
  }
  if (ir->op == IR_ITEM)
    buf_addf(p->out, " [%lld]", (long long)ir->integer);
  if (ir->op == IR_TENSOR)
    print_tensor_options(p, ir);
}

static void print_block(Printer *p, const Block *block);

static void print_indent(const Printer *p) { buf_addf(p->out, "%*s", 2 * p->depth, ""); }

static void print_raise(Printer *p, const Ir *ir) {
  buf_addf(p->out, "raise %s", ir->text);
  if (ir->message != NULL) {
    buf_add(p->out, " ");
    buf_add_c_string(p->out, ir->message, (size_t)ir->message_bytes);
  }
}

static void print_print(Printer *p, const Ir *ir) {
  buf_add(p->out, "print");
  print_args(p, ir);
  if (ir->n_args == 0) {
    buf_add(p->out, " ");
    buf_add_c_string(p->out, ir->message, (size_t)ir->message_bytes);
  }
  buf_add(p->out, ", ");
  buf_add_c_string(p->out, ir->text, strlen(ir->text));
}

static void print_statement(Printer *p, const Ir *ir) {
  switch (ir->op) {
  case IR_SET:
    buf_add(p->out, "set ");
    print_slot(p, ir->slot);
    buf_addf(p->out, " %%%d", ir->args[0]->id);
    break;
  case IR_IF:
    buf_addf(p->out, "if %%%d {\n", ir->args[0]->id);
    print_block(p, &ir->body);
    if (ir->orelse.n > 0) {
      print_indent(p);
      buf_add(p->out, "} else {\n");
      print_block(p, &ir->orelse);
    }
    print_indent(p);
    buf_add(p->out, "}");
    break;
  case IR_FOR:
    buf_add(p->out, "for ");
    print_slot(p, ir->slot);
    buf_addf(p->out, " in range(%%%d, %%%d, %%%d) {\n", ir->args[0]->id, ir->args[1]->id,
             ir->args[2]->id);
    print_block(p, &ir->body);
    print_indent(p);
    buf_add(p->out, "}");
    break;
  case IR_WHILE: /* the condition is a block of its own: it is computed before each turn */
    buf_add(p->out, "while {\n");
    print_block(p, &ir->orelse);
    print_indent(p);
    buf_addf(p->out, "} %%%d {\n", ir->args[0]->id);
    print_block(p, &ir->body);
    print_indent(p);
    buf_add(p->out, "}");
    break;
  case IR_PRINT:
    print_print(p, ir);
    break;
  case IR_RAISE:
    print_raise(p, ir);
    break;
  case IR_RESULTS:
    buf_add(p->out, "results");
    print_attrs(p, ir);
    break;
  default:
    buf_add(p->out, ir_name(ir->op));
    print_args(p, ir);
  }
}

static void print_block(Printer *p, const Block *block) {
  p->depth++;
  for (int i = 0; i < block->n; i++) {
    const Ir *ir = block->items[i];
    print_indent(p);
    if (ir_is_value(ir))
      print_value(p, ir);
    else
      print_statement(p, ir);
    buf_add(p->out, "\n");
  }
  p->depth--;
}

static void print_head(Printer *p) {
  const Func *func = p->func;
  buf_addf(p->out, "func %s(", func->qualname);
  for (int i = 0; i < func->n_params; i++) {
    const Param *param = &func->params[i];
    const Param *before = i > 0 ? param - 1 : NULL;
    if (before != NULL)
      buf_add(p->out, before->kind == PARAM_POSITIONAL_ONLY && param->kind != before->kind ? ", /, "
                                                                                           : ", ");
    if (param->kind == PARAM_KEYWORD_ONLY && (before == NULL || before->kind != param->kind))
      buf_add(p->out, "*, ");
    buf_addf(p->out, "%s %s%s", param->name, type_name(param->fact.type),
             param->default_value ? " = ..." : "");
  }
  if (func->n_params > 0 && func->params[func->n_params - 1].kind == PARAM_POSITIONAL_ONLY)
    buf_add(p->out, ", /");
  buf_addf(p->out, ") -> %s {\n", type_name(func->result.type));
}

void ir_print(Buf *out, const Func *func) {
  Printer printer = {out, func, 0};
  print_head(&printer);
  print_block(&printer, &func->body);
  buf_add(out, "}\n");
}
