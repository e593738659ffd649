#include "server/compiler/import/onnx_node.h"

#include <onnx/onnx_pb.h>

#include "common/base/status.h"
#include "server/compiler/import/graph_importer.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir::onnx_import {

OnnxNode::OnnxNode(GraphImporter* importer, const onnx::NodeProto& proto, Builder builder,
                   std::vector<Imported*> inputs, int opset)
    : importer_(importer),
      proto_(proto),
      builder_(std::move(builder)),
      inputs_(std::move(inputs)),
      opset_(opset) {}

const std::string& OnnxNode::op() const { return proto_.op_type(); }
int OnnxNode::num_outputs() const { return proto_.output_size(); }

bool OnnxNode::wants_output(int i) const {
  return i < proto_.output_size() && !proto_.output(i).empty();
}

ValueId OnnxNode::input(int i) {
  if (!has_input(i)) {
    builder_.Fail(InvalidArgument("operand ", i, " is missing"));
    return ValueId();
  }
  return importer_->Materialize(inputs_[i], builder_);
}

const Tensor* OnnxNode::constant(int i) const {
  if (!has_input(i) || !inputs_[i]->constant.has_value()) return nullptr;
  return &*inputs_[i]->constant;
}

absl::StatusOr<std::vector<Dim>> OnnxNode::Dims(int i) const {
  if (has_input(i) && inputs_[i]->dims.has_value()) return *inputs_[i]->dims;
  WEIR_ASSIGN_OR_RETURN(const Int64s numbers, Ints(i));
  return std::vector<Dim>(numbers.begin(), numbers.end());
}

absl::StatusOr<Int64s> OnnxNode::Ints(int i) const {
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) {
    if (has_input(i) && inputs_[i]->dims.has_value()) {
      Int64s numbers;
      for (const Dim& dim : *inputs_[i]->dims) {
        if (!dim.is_number()) {
          return Unsupported(StrCat("operand ", i, " depends on the dimension ", dim.ToString()));
        }
        numbers.push_back(dim.number());
      }
      return numbers;
    }
    return Unsupported(StrCat("operand ", i, " must be known when the model is imported"));
  }
  if (!IsInteger(tensor->dtype()) || tensor->rank() > 1) {
    return InvalidArgument("operand ", i, " must be a vector of integers, found ",
                           tensor->type().ToString());
  }
  Int64s numbers;
  const Tensor dense = tensor->Contiguous();
  VisitDType(dense.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (int64_t k = 0; k < dense.num_elements(); ++k) {
        numbers.push_back(static_cast<int64_t>(dense.data<T>()[k]));
      }
    }
  });
  return numbers;
}

absl::StatusOr<double> OnnxNode::Number(int i) const {
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) {
    return Unsupported(StrCat("operand ", i, " must be known when the model is imported"));
  }
  if (tensor->num_elements() != 1 || IsComplex(tensor->dtype())) {
    return InvalidArgument("operand ", i, " must be one number, found ", tensor->type().ToString());
  }
  return VisitDType(tensor->dtype(), [&]<class T>(TypeTag<T>) -> double {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(*tensor->data<T>());
    } else if constexpr (sizeof(T) == 2) {
      return static_cast<float>(*tensor->data<T>());
    } else {
      return 0;
    }
  });
}

const onnx::AttributeProto* OnnxNode::FindAttr(std::string_view name) const {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t OnnxNode::Int(std::string_view name, int64_t otherwise) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  return attribute == nullptr ? otherwise : attribute->i();
}

double OnnxNode::Float(std::string_view name, double otherwise) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  return attribute == nullptr ? otherwise : attribute->f();
}

std::string OnnxNode::String(std::string_view name, std::string_view otherwise) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  return attribute == nullptr ? std::string(otherwise) : attribute->s();
}

Int64s OnnxNode::Ints(std::string_view name, Int64s otherwise) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr) return otherwise;
  return Int64s(attribute->ints().begin(), attribute->ints().end());
}

std::vector<double> OnnxNode::Floats(std::string_view name) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr) return {};
  return std::vector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::vector<std::string> OnnxNode::Strings(std::string_view name) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr) return {};
  return std::vector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

absl::StatusOr<Tensor> OnnxNode::TensorAttr(std::string_view name) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr || !attribute->has_t()) {
    return InvalidArgument("attribute '", name, "' holds no tensor");
  }
  return TensorOf(attribute->t());
}

const onnx::GraphProto* OnnxNode::GraphAttr(std::string_view name) const {
  const onnx::AttributeProto* attribute = FindAttr(name);
  return attribute != nullptr && attribute->has_g() ? &attribute->g() : nullptr;
}

absl::StatusOr<int> OnnxNode::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is out of range for rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<Int64s> OnnxNode::Axes(const Int64s& axes, int rank) const {
  Int64s out;
  for (int64_t axis : axes) {
    WEIR_ASSIGN_OR_RETURN(const int from_front, Axis(axis, rank));
    out.push_back(from_front);
  }
  return out;
}

absl::StatusOr<std::optional<Int64s>> OnnxNode::AxesArgument(int operand, int since) const {
  if (opset_ >= since) {
    if (!has_input(operand)) return std::nullopt;
    WEIR_ASSIGN_OR_RETURN(Int64s axes, Ints(operand));
    return axes;
  }
  if (FindAttr("axes") == nullptr) return std::nullopt;
  return Ints("axes", {});
}

void OnnxNode::ReturnDims(std::vector<Dim> dims, bool scalar) {
  Imported value;
  bool numbers = true;
  for (const Dim& dim : dims) numbers = numbers && dim.is_number();
  if (numbers) {
    const int64_t count = static_cast<int64_t>(dims.size());
    Tensor tensor = scalar ? Tensor(DType::kI64, {}) : Tensor(DType::kI64, {count});
    for (int64_t k = 0; k < count; ++k) tensor.mutable_data<int64_t>()[k] = dims[k].number();
    value.constant = std::move(tensor);
  }
  value.dims = std::move(dims);
  value.dims_scalar = scalar;
  results_.push_back(std::move(value));
}

absl::Status OnnxNode::Unsupported(std::string_view what) const {
  return absl::UnimplementedError(std::string(what));
}

}  // namespace weir::onnx_import
