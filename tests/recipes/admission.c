/* admission.c: a module with one function whose operations are all recipes that no source function
 * has yet: stats() says of each whether admission took it. With -DWRONG each stands beside another
 * operation of the wheel's, which none may have the bits of.
 */
#include "tensorc_rt.h"

#ifdef WRONG
#define WHEEL(right, wrong) wrong
static bool conv1d_not_dilated(TcCall *tc, TcTensor *out, const TcOp *op,
                               const TcHandle *operands) {
  TcOp plain = *op;
  plain.number = 1.0;
  return tc_torch_conv1d(tc, out, &plain, operands);
}
static bool addmm_of_nothing(TcCall *tc, TcTensor *out, const TcOp *op, const TcHandle *operands) {
  return tc_torch_matmul(tc, out, op, operands);
}
#else
#define WHEEL(right, wrong) right
#endif

#define OP_OF(number, class, name, wheel, aten, overload)                                          \
  {class, #name, &tc_recipe_##name, wheel, aten, overload, 1, 0, false, number}
#define OP(...) OP_OF(0.0, __VA_ARGS__)
#define OPS                                                                                        \
  ALONG(log_softmax, TC_ROWWISE, "int", "aten::log_softmax", "aten::softmax")                      \
  ALONG(cumsum, TC_ROWWISE, "", "aten::cumsum", "aten::cumprod")                                   \
  ALONG(cumprod, TC_ROWWISE, "", "aten::cumprod", "aten::cumsum")                                  \
  SUM(prod, tc_torch_prod, "", "", tc_torch_reduce, "aten::sum", "dim_IntList")                    \
  SUM(norm, tc_torch_norm, "", "", tc_torch_reduce, "aten::sum", "dim_IntList")                    \
  SPREAD(var, 1.0, "aten::var")                                                                    \
  SPREAD(std, 1.0, "aten::std")                                                                    \
  SPREAD(var_biased, 0.0, "aten::var")                                                             \
  SPREAD(std_biased, 0.0, "aten::std")                                                             \
  MAP(silu, "aten::silu", "aten::sigmoid")                                                         \
  PICK(topk, WHEEL(tc_torch_topk, tc_torch_extreme), "", "aten::topk", "aten::sort")               \
  PICK(max, tc_torch_extreme, "dim", "aten::max", "aten::min")                                     \
  PICK(min, tc_torch_extreme, "dim", "aten::min", "aten::max")                                     \
  ADDMM(addmm)                                                                                     \
  BMM(bmm)                                                                                         \
  CONV(conv1d)                                                                                     \
  NORM(layer_norm, tc_torch_layer_norm, tc_torch_rms_norm)                                         \
  NORM(rms_norm, tc_torch_rms_norm, tc_torch_layer_norm)                                           \
  NORM(batch_norm, tc_torch_batch_norm, tc_torch_layer_norm)

extern const TcRecipe tc_recipe_relu;
#define ALONG(name, ...) extern const TcRecipe tc_recipe_##name;
#define MAP ALONG
#define NORM ALONG
#define PICK ALONG
#define CONV ALONG
#define BMM ALONG
#define ADDMM ALONG
#define SUM ALONG
#define SPREAD ALONG
OPS
#undef ALONG
#undef MAP
#undef NORM
#undef PICK
#undef CONV
#undef BMM
#undef ADDMM
#undef SUM
#undef SPREAD

    static const TcOp ops[] = {
        {TC_MAP1, "relu", &tc_recipe_relu, tc_torch_unary, "aten::relu", "", 1, 0, false, 0.0},
#define ALONG(name, class, overload, right, wrong)                                                 \
  OP(class, name, tc_torch_rowwise, WHEEL(right, wrong), overload),
#define SUM(name, wheel, aten, overload, wheel2, aten2, overload2)                                 \
  OP(TC_REDUCE, name, WHEEL(wheel, wheel2), WHEEL(aten, aten2), WHEEL(overload, overload2)),
#define SPREAD(name, correction, aten)                                                             \
  OP_OF(WHEEL(correction, 1.0 - correction), TC_REDUCE, name, tc_torch_spread, aten, ""),
#define MAP(name, right, wrong) OP(TC_MAP1, name, tc_torch_unary, WHEEL(right, wrong), ""),
#define NORM(name, right, wrong) OP(TC_NORM, name, WHEEL(right, wrong), "", ""),
#define BMM(name) OP(TC_BMM, name, WHEEL(tc_torch_bmm, tc_torch_matmul), "", ""),
#define ADDMM(name) OP(TC_MATMUL, name, WHEEL(tc_torch_addmm, addmm_of_nothing), "", ""),
#define CONV(name) OP(TC_CONV, name, WHEEL(tc_torch_conv1d, conv1d_not_dilated), "", ""),
#define PICK(name, wheel, overload, right, wrong)                                                  \
  OP(TC_PICK, name, wheel, WHEEL(right, wrong), overload),
        OPS};

/* def f(x): return x.relu() */
static bool body(TcCall *tc, const TcValue *args, TcValue *result) {
  TcTensor x = args[0].tensor, y = {0};
  bool ok = tc_op1(tc, &y, &ops[0], tc_get(&x));
  result->tensor = y;
  return ok;
}

static const TcParam params[] = {
    {"x", {TC_TENSOR, TC_F32, TC_CPU, 2}, TC_POSITIONAL_OR_KEYWORD, false}};
static const TcFunc f = {.name = "f",
                         .qualname = "f",
                         .first_line = 1,
                         .lane = TC_LANE_TORCH,
                         .params = params,
                         .n_params = 1,
                         .result = {TC_TENSOR, TC_F32, TC_CPU, 2},
                         .body = body,
                         .ops = ops,
                         .n_ops = sizeof ops / sizeof *ops};
static const TcFunc *const functions[] = {&f};
static const TcModuleInfo info = {.name = "admission",
                                  .funcs = functions,
                                  .n_funcs = 1,
                                  .gradients = TC_ON_PYTHON,
                                  .on_mismatch = TC_ON_ERROR,
                                  .digest = ""};
TC_MODULE(admission, &info)
