// Operators that describe shapes or make values from them.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "common/base/status.h"
#include "server/compiler/import/onnx_node.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir::onnx_import {

absl::Status TranslateConstant(OnnxNode& node) {
  for (const onnx::AttributeProto& attribute : node.proto().attribute()) {
    const std::string& name = attribute.name();
    if (name == "value") {
      WEIR_ASSIGN_OR_RETURN(Tensor value, node.TensorAttr("value"));
      node.ReturnConstant(std::move(value));
    } else if (name == "value_float") {
      node.ReturnConstant(Tensor::Scalar<float>(attribute.f()));
    } else if (name == "value_int") {
      node.ReturnConstant(Tensor::Scalar<int64_t>(attribute.i()));
    } else if (name == "value_floats") {
      const std::vector<float> values(attribute.floats().begin(), attribute.floats().end());
      node.ReturnConstant(Tensor::FromSpan<float>({static_cast<int64_t>(values.size())}, values));
    } else if (name == "value_ints") {
      const Int64s values(attribute.ints().begin(), attribute.ints().end());
      node.ReturnConstant(Tensor::FromSpan<int64_t>({static_cast<int64_t>(values.size())}, values));
    } else {
      return node.Unsupported(StrCat("attribute '", name, "'"));
    }
    return absl::OkStatus();
  }
  return InvalidArgument("the constant has no value");
}

absl::Status TranslateConstantOfShape(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<Dim> shape, node.Dims(0));
  Tensor value = Tensor::Of<float>({1}, {0});
  if (node.FindAttr("value") != nullptr) {
    WEIR_ASSIGN_OR_RETURN(value, node.TensorAttr("value"));
  }
  if (value.num_elements() != 1) return InvalidArgument("'value' must have one element");
  const ValueId scalar = node.b().Constant(value.Reshape({}));
  node.Return(BroadcastTo(node.b(), scalar, Shape(shape)));
  return absl::OkStatus();
}

absl::Status TranslateShape(OnnxNode& node) {
  const Shape shape = node.type(0).shape;
  const int64_t rank = shape.rank();
  auto clip = [&](int64_t k) { return std::clamp<int64_t>(k < 0 ? k + rank : k, 0, rank); };
  const int64_t start = clip(node.Int("start", 0));
  const int64_t end = std::max(start, clip(node.Int("end", rank)));
  node.ReturnDims({shape.dims().begin() + start, shape.dims().begin() + end}, false);
  return absl::OkStatus();
}

absl::Status TranslateSize(OnnxNode& node) {
  node.ReturnDims({node.type(0).shape.num_elements()}, true);
  return absl::OkStatus();
}

absl::Status TranslateReshape(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(std::vector<Dim> shape, node.Dims(1));
  const TensorType type = node.type(0);
  if (node.Int("allowzero", 0) == 0) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!(shape[i] == Dim(0))) continue;
      if (static_cast<int>(i) >= type.rank()) {
        return InvalidArgument("dimension ", i, " of the new shape is 0, but the operand is ",
                               type.ToString());
      }
      shape[i] = type.shape[static_cast<int>(i)];
    }
  }
  node.Return(Reshape(node.b(), node.input(0), std::move(shape)));
  return absl::OkStatus();
}

absl::Status TranslateFlatten(OnnxNode& node) {
  const Shape shape = node.type(0).shape;
  int64_t axis = node.Int("axis", 1);
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis > shape.rank()) return InvalidArgument("axis ", axis, " is out of range");
  Dim rows = 1;
  Dim columns = 1;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * shape[i];
  node.Return(Reshape(node.b(), node.input(0), {rows, columns}));
  return absl::OkStatus();
}

absl::Status TranslateExpand(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<Dim> shape, node.Dims(1));
  WEIR_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(node.type(0).shape, Shape(shape)));
  node.Return(BroadcastTo(node.b(), node.input(0), both));
  return absl::OkStatus();
}

absl::Status TranslateSqueeze(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(std::optional<Int64s> axes, node.AxesArgument(1, 13));
  if (!axes.has_value()) {
    axes.emplace();
    for (int i = 0; i < node.rank(0); ++i) {
      if (node.type(0).shape[i] == Dim(1)) axes->push_back(i);
    }
  }
  node.Return(Squeeze(node.b(), node.input(0), *axes));
  return absl::OkStatus();
}

absl::Status TranslateUnsqueeze(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(std::optional<Int64s> axes, node.AxesArgument(1, 13));
  if (!axes.has_value()) return InvalidArgument("axes are missing");
  node.Return(ExpandDims(node.b(), node.input(0), *axes));
  return absl::OkStatus();
}

absl::Status TranslateRange(OnnxNode& node) {
  absl::StatusOr<std::vector<Dim>> start = node.Dims(0);
  absl::StatusOr<std::vector<Dim>> limit = node.Dims(1);
  absl::StatusOr<std::vector<Dim>> delta = node.Dims(2);
  Builder& b = node.b();
  const auto one = [](const absl::StatusOr<std::vector<Dim>>& dims) {
    return dims.ok() && dims->size() == 1;
  };
  if (one(start) && one(limit) && one(delta)) {
    const Dim step = (*delta)[0];
    if (step == Dim(0)) return InvalidArgument("delta is 0");
    const bool down = step.is_number() && step.number() < 0;
    const Dim span = down ? (*start)[0] - (*limit)[0] : (*limit)[0] - (*start)[0];
    const Dim size = down ? Dim(0) - step : step;
    const Dim count = Max(Dim(0), FloorDiv(span + size - 1, size));
    const DType dtype = node.type(0).dtype;
    const ValueId index = Iota(b, dtype, {count}, 0);
    const ValueId scaled = Binary(b, "multiply", index, node.input(2));
    node.Return(Binary(b, "add", scaled, node.input(0)));
    return absl::OkStatus();
  }
  WEIR_ASSIGN_OR_RETURN(const double from, node.Number(0));
  WEIR_ASSIGN_OR_RETURN(const double to, node.Number(1));
  WEIR_ASSIGN_OR_RETURN(const double by, node.Number(2));
  if (by == 0 || !std::isfinite((to - from) / by) || (to - from) / by > 1e9) {
    return InvalidArgument("range from ", from, " to ", to, " by ", by);
  }
  const int64_t count = std::max<int64_t>(0, static_cast<int64_t>(std::ceil((to - from) / by)));
  const ValueId index = Iota(b, node.type(0).dtype, {count}, 0);
  node.Return(Binary(b, "add", Binary(b, "multiply", index, node.input(2)), node.input(0)));
  return absl::OkStatus();
}

absl::Status TranslateEyeLike(OnnxNode& node) {
  Builder& b = node.b();
  const TensorType type = node.type(0);
  if (type.rank() != 2) return InvalidArgument("the operand must be a matrix");
  DType dtype = type.dtype;
  if (node.FindAttr("dtype") != nullptr) {
    WEIR_ASSIGN_OR_RETURN(dtype, DTypeOf(static_cast<int>(node.Int("dtype", 0))));
  }
  const ValueId row = Iota(b, DType::kI64, type.shape.dims(), 0);
  const ValueId column = Iota(b, DType::kI64, type.shape.dims(), 1);
  const ValueId shifted = Binary(b, "add", row, static_cast<double>(node.Int("k", 0)));
  node.Return(Cast(b, Binary(b, "equal", shifted, column), dtype));
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
