// A few ops for the tests of this folder, with rules small enough to know by heart. For tests only;
// thread-compatible.
//
//   constant {value}         the tensor             source                 f32[n]
//   add, mul (a, a)          a                      any                    f32[], any attributes
//   neg, floor (a)           a                      call {callee} (args)   results of the function
//   split (a)                a, a                   sink (...)             nothing
//   if (p) {..} {..}         results of the first region; both must agree
//   pfor {extent} (i) {..}   results of the region with the extent in front
//   loop (a...) (a...) {..}  a...
#ifndef WEIR_COMMON_IR_TEST_CATALOG_H_
#define WEIR_COMMON_IR_TEST_CATALOG_H_

#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/ir/op_catalog.h"
#include "common/ir/verify.h"

namespace weir {

class TestCatalog : public OpCatalog {
 public:
  bool Has(std::string_view op) const override {
    for (std::string_view name : Names()) {
      if (name == op) return true;
    }
    return false;
  }

  std::vector<std::string_view> Names() const override {
    return {"constant", "source", "add", "mul",  "neg",  "floor", "any",
            "split",    "sink",   "if",  "pfor", "loop", "call"};
  }

  absl::StatusOr<std::vector<TensorType>> Infer(const Graph& graph,
                                                const Node& node) const override {
    ++calls_;
    const std::string_view op = node.op;
    if (op == "constant") return Constant(node);
    if (op == "source") return Types{{DType::kF32, Shape({Dim::Symbol("n")})}};
    if (op == "any") return Types{{DType::kF32, Shape()}};
    if (op == "sink") return Types{};
    if (op == "call") return Call(graph, node);
    if (op == "if" || op == "pfor" || op == "loop") return Control(graph, node);
    return Elementwise(graph, node);
  }

  // Times that Infer ran.
  int calls() const { return calls_; }

 private:
  using Types = std::vector<TensorType>;

  static Types TypesOf(const Graph& graph, const std::vector<ValueId>& values) {
    Types out;
    for (ValueId value : values) out.push_back(graph.type(value));
    return out;
  }

  static absl::StatusOr<Types> Constant(const Node& node) {
    const Attr* value = node.FindAttr("value");
    if (value == nullptr || value->kind() != Attr::Kind::kTensor) {
      return InvalidArgument("attribute value must be a tensor");
    }
    return Types{value->AsTensor().type()};
  }

  static absl::StatusOr<Types> Elementwise(const Graph& graph, const Node& node) {
    const size_t wanted = node.op == "add" || node.op == "mul" ? 2 : 1;
    if (node.inputs.size() != wanted) {
      return InvalidArgument("takes ", wanted, " inputs, not ", node.inputs.size());
    }
    const TensorType& type = graph.type(node.inputs[0]);
    if (type != graph.type(node.inputs.back())) return InvalidArgument("inputs differ in type");
    return Types(node.op == "split" ? 2 : 1, type);
  }

  static absl::StatusOr<Types> Call(const Graph& graph, const Node& node) {
    const Attr* callee = node.FindAttr("callee");
    if (callee == nullptr || callee->kind() != Attr::Kind::kString) {
      return InvalidArgument("attribute callee must be a string");
    }
    const Function* function = graph.FindFunction(callee->AsString());
    if (function == nullptr) return InvalidArgument("no function @", callee->AsString());
    const Region& body = graph.region(function->body);
    if (TypesOf(graph, body.args) != TypesOf(graph, node.inputs)) {
      return InvalidArgument("@", callee->AsString(), " takes ", TypesToString(graph, body.args));
    }
    return TypesOf(graph, body.results);
  }

  static absl::StatusOr<Types> Control(const Graph& graph, const Node& node) {
    if (node.regions.size() != (node.op == "if" ? 2 : 1)) {
      return InvalidArgument("wrong number of regions: ", node.regions.size());
    }
    const Region& region = graph.region(node.regions[0]);
    Types results = TypesOf(graph, region.results);
    if (node.op == "if") {
      if (results != TypesOf(graph, graph.region(node.regions[1]).results)) {
        return InvalidArgument("the branches differ in type");
      }
    } else if (node.op == "loop") {
      const Types carried = TypesOf(graph, node.inputs);
      if (carried != TypesOf(graph, region.args) || carried != results) {
        return InvalidArgument("carried types differ");
      }
    } else {
      const Attr* extent = node.FindAttr("extent");
      if (extent == nullptr || extent->kind() != Attr::Kind::kDims) {
        return InvalidArgument("attribute extent must be dims");
      }
      for (TensorType& type : results) {
        std::vector<Dim>& dims = type.shape.dims();
        dims.insert(dims.begin(), extent->AsDims().begin(), extent->AsDims().end());
      }
    }
    return results;
  }

  mutable int calls_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_IR_TEST_CATALOG_H_
