// What the translation of an ONNX operator sees: the node's operands and attributes, and a builder
// for what it becomes. Lives for one translation, on one thread.
#ifndef WEIR_SERVER_COMPILER_IMPORT_ONNX_NODE_H_
#define WEIR_SERVER_COMPILER_IMPORT_ONNX_NODE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "common/ops/lang.h"
#include "server/compiler/import/scope.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace weir::onnx_import {

class GraphImporter;

class OnnxNode {
 public:
  OnnxNode(GraphImporter* importer, const onnx::NodeProto& proto, Builder builder,
           std::vector<Imported*> inputs, int opset);

  Builder& b() { return builder_; }
  int opset() const { return opset_; }
  const std::string& op() const;
  const onnx::NodeProto& proto() const { return proto_; }
  GraphImporter& importer() { return *importer_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const;
  // Whether an optional operand or result is there.
  bool has_input(int i) const { return i < num_inputs() && inputs_[i] != nullptr; }
  bool wants_output(int i) const;
  // REQUIRES: has_input(i), or the fault is recorded in the builder.
  ValueId input(int i);
  TensorType type(int i) { return builder_.type(input(i)); }
  int rank(int i) { return type(i).rank(); }
  // The operand's value if it is known while importing, else null.
  const Tensor* constant(int i) const;
  // The operand as dimensions. Returns: an error if it is not known while importing.
  absl::StatusOr<std::vector<Dim>> Dims(int i) const;
  // The operand as numbers, likewise.
  absl::StatusOr<Int64s> Ints(int i) const;
  absl::StatusOr<double> Number(int i) const;

  // Attributes.
  const onnx::AttributeProto* FindAttr(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t otherwise) const;
  double Float(std::string_view name, double otherwise) const;
  std::string String(std::string_view name, std::string_view otherwise) const;
  Int64s Ints(std::string_view name, Int64s otherwise) const;
  std::vector<double> Floats(std::string_view name) const;
  std::vector<std::string> Strings(std::string_view name) const;
  absl::StatusOr<Tensor> TensorAttr(std::string_view name) const;
  const onnx::GraphProto* GraphAttr(std::string_view name) const;

  // `axis` counted from the front. Returns: an error naming the axis if it is out of range.
  absl::StatusOr<int> Axis(int64_t axis, int rank) const;
  absl::StatusOr<Int64s> Axes(const Int64s& axes, int rank) const;
  // Axes given by the attribute `axes`, or from `since` on by operand `operand`.
  absl::StatusOr<std::optional<Int64s>> AxesArgument(int operand, int since) const;

  void Return(ValueId value) { results_.push_back({.id = value}); }
  void ReturnConstant(Tensor value) { results_.push_back({.constant = std::move(value)}); }
  void ReturnDims(std::vector<Dim> dims, bool scalar);
  void ReturnNothing() { results_.push_back({}); }
  void ReturnImported(Imported value) { results_.push_back(std::move(value)); }
  Imported* imported(int i) { return inputs_[i]; }
  std::vector<Imported>& results() { return results_; }

  // UNIMPLEMENTED, with what is not translated.
  absl::Status Unsupported(std::string_view what) const;

 private:
  GraphImporter* importer_;
  const onnx::NodeProto& proto_;
  Builder builder_;
  std::vector<Imported*> inputs_;
  const int opset_;
  std::vector<Imported> results_;
};

// A translation calls Return... once for each output, in order.
using Translation = absl::Status (*)(OnnxNode& node);
// Returns: the translation of an operator of the default domain, or null.
Translation FindTranslation(std::string_view op);

}  // namespace weir::onnx_import

#endif  // WEIR_SERVER_COMPILER_IMPORT_ONNX_NODE_H_
