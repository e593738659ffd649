// Element-wise and comparison operators.
#include <onnx/onnx_pb.h>

#include <cmath>

#include "common/base/status.h"
#include "common/ops/promote.h"
#include "server/compiler/import/onnx_node.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir::onnx_import {
namespace {

absl::Status Unary(OnnxNode& node, const char* op) {
  node.Return(node.b().Apply(op, {node.input(0)}));
  return absl::OkStatus();
}

absl::Status Broadcasting(OnnxNode& node, const char* op) {
  node.Return(Binary(node.b(), op, node.input(0), node.input(1)));
  return absl::OkStatus();
}

// Sum, Max, Min and Mean take any number of operands.
ValueId Chain(OnnxNode& node, const char* op) {
  ValueId value = node.input(0);
  for (int i = 1; i < node.num_inputs(); ++i) value = Binary(node.b(), op, value, node.input(i));
  return value;
}

ValueId Positive(OnnxNode& node, ValueId x) { return Binary(node.b(), "greater", x, 0.0); }

}  // namespace

#define WEIR_UNARY(Operator, op) \
  absl::Status Translate##Operator(OnnxNode& node) { return Unary(node, op); }
WEIR_UNARY(Abs, "abs")
WEIR_UNARY(Acos, "acos")
WEIR_UNARY(Acosh, "acosh")
WEIR_UNARY(Asin, "asin")
WEIR_UNARY(Asinh, "asinh")
WEIR_UNARY(Atan, "atan")
WEIR_UNARY(Atanh, "atanh")
WEIR_UNARY(Ceil, "ceil")
WEIR_UNARY(Cos, "cos")
WEIR_UNARY(Cosh, "cosh")
WEIR_UNARY(Erf, "erf")
WEIR_UNARY(Exp, "exp")
WEIR_UNARY(Floor, "floor")
WEIR_UNARY(IsNaN, "is_nan")
WEIR_UNARY(Log, "log")
WEIR_UNARY(Neg, "negate")
WEIR_UNARY(Not, "not")
WEIR_UNARY(Reciprocal, "reciprocal")
WEIR_UNARY(Relu, "relu")
WEIR_UNARY(Round, "round_half_even")
WEIR_UNARY(Sigmoid, "logistic")
WEIR_UNARY(Sign, "sign")
WEIR_UNARY(Sin, "sin")
WEIR_UNARY(Sinh, "sinh")
WEIR_UNARY(Softplus, "softplus")
WEIR_UNARY(Sqrt, "sqrt")
WEIR_UNARY(Tan, "tan")
WEIR_UNARY(Tanh, "tanh")
#undef WEIR_UNARY

#define WEIR_BINARY(Operator, op) \
  absl::Status Translate##Operator(OnnxNode& node) { return Broadcasting(node, op); }
WEIR_BINARY(Add, "add")
WEIR_BINARY(And, "and")
WEIR_BINARY(Div, "divide")
WEIR_BINARY(Equal, "equal")
WEIR_BINARY(Greater, "greater")
WEIR_BINARY(GreaterOrEqual, "greater_equal")
WEIR_BINARY(Less, "less")
WEIR_BINARY(LessOrEqual, "less_equal")
WEIR_BINARY(Mul, "multiply")
WEIR_BINARY(Or, "or")
WEIR_BINARY(Sub, "subtract")
WEIR_BINARY(Xor, "xor")
#undef WEIR_BINARY

// The result has the type of the base, whatever the exponent's.
absl::Status TranslatePow(OnnxNode& node) {
  const DType dtype = node.type(0).dtype;
  const DType meet = Promote(dtype, node.type(1).dtype);
  Builder& b = node.b();
  const ValueId power =
      Binary(b, "power", Cast(b, node.input(0), meet), Cast(b, node.input(1), meet));
  node.Return(Cast(b, power, dtype));
  return absl::OkStatus();
}

absl::Status TranslateMod(OnnxNode& node) {
  return Broadcasting(node, node.Int("fmod", 0) != 0 ? "remainder" : "floor_mod");
}

absl::Status TranslateBitShift(OnnxNode& node) {
  return Broadcasting(
      node, node.String("direction", "") == "LEFT" ? "shift_left" : "shift_right_logical");
}

absl::Status TranslateSum(OnnxNode& node) {
  node.Return(Chain(node, "add"));
  return absl::OkStatus();
}

absl::Status TranslateMax(OnnxNode& node) {
  node.Return(Chain(node, "maximum"));
  return absl::OkStatus();
}

absl::Status TranslateMin(OnnxNode& node) {
  node.Return(Chain(node, "minimum"));
  return absl::OkStatus();
}

absl::Status TranslateMean(OnnxNode& node) {
  node.Return(Binary(node.b(), "divide", Chain(node, "add"), node.num_inputs()));
  return absl::OkStatus();
}

absl::Status TranslateWhere(OnnxNode& node) {
  node.Return(Where(node.b(), node.input(0), node.input(1), node.input(2)));
  return absl::OkStatus();
}

absl::Status TranslateClip(OnnxNode& node) {
  Builder& b = node.b();
  ValueId value = node.input(0);
  if (node.opset() < 11) {
    if (node.FindAttr("min")) value = Binary(b, "maximum", value, node.Float("min", 0));
    if (node.FindAttr("max")) value = Binary(b, "minimum", value, node.Float("max", 0));
  } else {
    if (node.has_input(1)) value = Binary(b, "maximum", value, node.input(1));
    if (node.has_input(2)) value = Binary(b, "minimum", value, node.input(2));
  }
  node.Return(value);
  return absl::OkStatus();
}

absl::Status TranslateCast(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(static_cast<int>(node.Int("to", 0))));
  node.Return(Cast(node.b(), node.input(0), dtype));
  return absl::OkStatus();
}

absl::Status TranslateCastLike(OnnxNode& node) {
  node.Return(Cast(node.b(), node.input(0), node.type(1).dtype));
  return absl::OkStatus();
}

absl::Status TranslateIsInf(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  ValueId found = b.Apply("is_inf", {x});
  if (node.Int("detect_negative", 1) == 0) {
    found = Binary(b, "and", found, Binary(b, "greater", x, 0.0));
  }
  if (node.Int("detect_positive", 1) == 0) {
    found = Binary(b, "and", found, Binary(b, "less", x, 0.0));
  }
  node.Return(found);
  return absl::OkStatus();
}

absl::Status TranslateLeakyRelu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  node.Return(
      Where(b, Binary(b, "less", x, 0.0), Binary(b, "multiply", x, node.Float("alpha", 0.01)), x));
  return absl::OkStatus();
}

absl::Status TranslatePRelu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  ValueId slope = node.input(1);
  WEIR_RETURN_IF_ERROR(b.status());
  // Old models give one slope a channel as a vector, which would broadcast along the last axis.
  const Shape& shape = b.type(x).shape;
  const Shape slopes = b.type(slope).shape;
  if (node.opset() < 9 && slopes.rank() == 1 && shape.rank() > 2 && slopes[0] == shape[1]) {
    std::vector<Dim> dims(shape.rank() - 1, 1);
    dims[0] = slopes[0];
    slope = Reshape(b, slope, dims);
  }
  node.Return(Where(b, Binary(b, "less", x, 0.0), Binary(b, "multiply", x, slope), x));
  return absl::OkStatus();
}

absl::Status TranslateElu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  const ValueId low = Binary(b, "multiply", b.Apply("expm1", {x}), node.Float("alpha", 1.0));
  node.Return(Where(b, Binary(b, "less", x, 0.0), low, x));
  return absl::OkStatus();
}

absl::Status TranslateCelu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  const double alpha = node.Float("alpha", 1.0);
  const ValueId low =
      Binary(b, "multiply", b.Apply("expm1", {Binary(b, "divide", x, alpha)}), alpha);
  node.Return(Binary(b, "add", b.Apply("relu", {x}), Binary(b, "minimum", low, 0.0)));
  return absl::OkStatus();
}

absl::Status TranslateSelu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  const double alpha = node.Float("alpha", 1.67326319217681884765625);
  const double gamma = node.Float("gamma", 1.05070102214813232421875);
  const ValueId low = Binary(b, "multiply", b.Apply("expm1", {x}), alpha);
  node.Return(Binary(b, "multiply", Where(b, Positive(node, x), x, low), gamma));
  return absl::OkStatus();
}

absl::Status TranslateHardSigmoid(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId line =
      Binary(b, "add", Binary(b, "multiply", node.input(0), node.Float("alpha", 0.2)),
             node.Float("beta", 0.5));
  node.Return(Binary(b, "minimum", Binary(b, "maximum", line, 0.0), 1.0));
  return absl::OkStatus();
}

absl::Status TranslateHardSwish(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  const ValueId line = Binary(b, "add", Binary(b, "divide", x, 6.0), 0.5);
  node.Return(Binary(b, "multiply", x, Binary(b, "minimum", Binary(b, "maximum", line, 0.0), 1.0)));
  return absl::OkStatus();
}

absl::Status TranslateSoftsign(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  node.Return(Binary(b, "divide", x, Binary(b, "add", b.Apply("abs", {x}), 1.0)));
  return absl::OkStatus();
}

absl::Status TranslateThresholdedRelu(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  node.Return(Where(b, Binary(b, "greater", x, node.Float("alpha", 1.0)), x, FullLike(b, x, 0)));
  return absl::OkStatus();
}

absl::Status TranslateShrink(OnnxNode& node) {
  Builder& b = node.b();
  const ValueId x = node.input(0);
  const double lambd = node.Float("lambd", 0.5);
  const double bias = node.Float("bias", 0.0);
  const ValueId low =
      Where(b, Binary(b, "less", x, -lambd), Binary(b, "add", x, bias), FullLike(b, x, 0));
  node.Return(Where(b, Binary(b, "greater", x, lambd), Binary(b, "subtract", x, bias), low));
  return absl::OkStatus();
}

absl::Status TranslateIdentity(OnnxNode& node) {
  node.ReturnImported(*node.imported(0));
  return absl::OkStatus();
}

// Inference: everything passes, and the mask is true.
absl::Status TranslateDropout(OnnxNode& node) {
  if (node.has_input(2)) {
    WEIR_ASSIGN_OR_RETURN(const double training, node.Number(2));
    const double ratio = node.has_input(1) ? node.Number(1).value_or(0.5) : 0.5;
    if (training != 0 && ratio != 0) {
      return node.Unsupported("training_mode with a ratio other than 0");
    }
  }
  const ValueId x = node.input(0);
  node.Return(x);
  if (node.wants_output(1)) {
    node.Return(Full(node.b(), DType::kBool, node.type(0).shape.dims(), 1));
  }
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
