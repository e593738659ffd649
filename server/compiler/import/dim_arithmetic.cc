#include "server/compiler/import/dim_arithmetic.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "common/base/status.h"

namespace weir::onnx_import {
namespace {

using DimList = std::vector<Dim>;

// Whether operand i is known as dimensions, and is more than a constant.
bool IsSymbolic(OnnxNode& node, int i) {
  return node.has_input(i) && node.imported(i)->dims.has_value() && node.constant(i) == nullptr;
}

bool IsScalar(OnnxNode& node, int i) {
  const Imported& value = *node.imported(i);
  return value.constant.has_value() ? value.constant->rank() == 0 : value.dims_scalar;
}

absl::StatusOr<bool> Elementwise(OnnxNode& node, Dim (*apply)(const Dim&, const Dim&)) {
  absl::StatusOr<DimList> x = node.Dims(0);
  absl::StatusOr<DimList> y = node.Dims(1);
  if (!x.ok() || !y.ok()) return false;
  if (x->size() != y->size() && x->size() != 1 && y->size() != 1) return false;
  DimList out;
  const size_t count = x->size() == 1 ? y->size() : x->size();
  for (size_t k = 0; k < count; ++k) {
    out.push_back(apply((*x)[x->size() == 1 ? 0 : k], (*y)[y->size() == 1 ? 0 : k]));
    if (out.back().is_unknown()) return false;
  }
  node.ReturnDims(std::move(out), IsScalar(node, 0) && IsScalar(node, 1));
  return true;
}

absl::StatusOr<bool> Concat(OnnxNode& node) {
  DimList out;
  for (int i = 0; i < node.num_inputs(); ++i) {
    absl::StatusOr<DimList> part = node.Dims(i);
    if (!part.ok()) return false;
    out.insert(out.end(), part->begin(), part->end());
  }
  node.ReturnDims(std::move(out), false);
  return true;
}

absl::StatusOr<bool> Gather(OnnxNode& node) {
  absl::StatusOr<DimList> dims = node.Dims(0);
  absl::StatusOr<Int64s> indices = node.Ints(1);
  if (!dims.ok() || !indices.ok()) return false;
  DimList out;
  for (int64_t index : *indices) {
    WEIR_ASSIGN_OR_RETURN(const int at, node.Axis(index, static_cast<int>(dims->size())));
    out.push_back((*dims)[at]);
  }
  node.ReturnDims(std::move(out), node.constant(1)->rank() == 0);
  return true;
}

absl::StatusOr<bool> Slice(OnnxNode& node) {
  absl::StatusOr<DimList> dims = node.Dims(0);
  const bool by_operand = node.opset() >= 10;
  absl::StatusOr<Int64s> start = by_operand ? node.Ints(1) : node.Ints("starts", {});
  absl::StatusOr<Int64s> end = by_operand ? node.Ints(2) : node.Ints("ends", {});
  if (!dims.ok() || !start.ok() || !end.ok() || start->size() != 1 || end->size() != 1) {
    return false;
  }
  if (by_operand && node.has_input(4)) {
    absl::StatusOr<Int64s> step = node.Ints(4);
    if (!step.ok() || *step != Int64s{1}) return false;
  }
  const int64_t count = static_cast<int64_t>(dims->size());
  auto clip = [&](int64_t k) { return std::clamp<int64_t>(k < 0 ? k + count : k, 0, count); };
  const int64_t begin = clip((*start)[0]);
  const int64_t limit = std::max(begin, clip((*end)[0]));
  node.ReturnDims(DimList(dims->begin() + begin, dims->begin() + limit), false);
  return true;
}

absl::StatusOr<bool> SameDims(OnnxNode& node, bool scalar) {
  WEIR_ASSIGN_OR_RETURN(DimList dims, node.Dims(0));
  if (scalar && dims.size() != 1) return false;
  node.ReturnDims(std::move(dims), scalar);
  return true;
}

// Reshape of one dimension to [-1] or [1].
absl::StatusOr<bool> Reshape(OnnxNode& node) {
  absl::StatusOr<Int64s> shape = node.Ints(1);
  if (!shape.ok() || shape->size() > 1) return false;
  return SameDims(node, shape->empty());
}

Dim Plus(const Dim& x, const Dim& y) { return x + y; }
Dim Minus(const Dim& x, const Dim& y) { return x - y; }
Dim Times(const Dim& x, const Dim& y) { return x * y; }
Dim Over(const Dim& x, const Dim& y) {
  // Integer division of ONNX truncates; for dimensions, which are not negative, that is rounding
  // down.
  return FloorDiv(x, y);
}

}  // namespace

absl::StatusOr<bool> FoldDims(OnnxNode& node) {
  bool any = false;
  for (int i = 0; i < node.num_inputs(); ++i) any = any || IsSymbolic(node, i);
  if (!any) return false;
  const std::string& op = node.op();
  if (op == "Add") return Elementwise(node, &Plus);
  if (op == "Sub") return Elementwise(node, &Minus);
  if (op == "Mul") return Elementwise(node, &Times);
  if (op == "Div") return Elementwise(node, &Over);
  if (op == "Concat") return Concat(node);
  if (op == "Gather") return Gather(node);
  if (op == "Slice") return Slice(node);
  if (op == "Identity") return SameDims(node, IsScalar(node, 0));
  if (op == "Cast") {
    if (node.Int("to", 0) != onnx::TensorProto::INT64) return false;
    return SameDims(node, IsScalar(node, 0));
  }
  if (op == "Unsqueeze") return IsScalar(node, 0) ? SameDims(node, false) : false;
  if (op == "Squeeze") return IsScalar(node, 0) ? false : SameDims(node, true);
  if (op == "Reshape") return Reshape(node);
  return false;
}

}  // namespace weir::onnx_import
