// Appends nodes to one region of a graph, with the types inferred by the op catalog. Owned by
// whoever builds; thread-compatible.
//
// The first fault sticks: later calls do nothing and return invalid ids, and status() says what
// happened and where. So a chain of calls needs one check at its end.
//
//   Builder b(&graph, body, &Ops());
//   ValueId y = b.Apply("add", {x, x});
//   b.Yield({y});
//   WEIR_RETURN_IF_ERROR(b.status());
#ifndef WEIR_COMMON_IR_BUILDER_H_
#define WEIR_COMMON_IR_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/ir/graph.h"
#include "common/ir/op_catalog.h"

namespace weir {

class Builder {
 public:
  // REQUIRES: graph and catalog outlive the builder.
  Builder(Graph* graph, RegionId region, const OpCatalog* catalog);

  // A builder for another region that shares this one's status, location and node name.
  Builder In(RegionId region) const;
  // A fresh detached region, to be passed to Apply.
  RegionId NewRegion() { return graph_->AddRegion(); }
  ValueId AddArg(TensorType type, std::string name = "");

  // Appends a node with one output. Returns: that output.
  ValueId Apply(std::string op, std::vector<ValueId> inputs, Attrs attrs = {},
                std::vector<RegionId> regions = {});
  // Appends a node. Returns: its outputs; empty after a fault.
  std::vector<ValueId> ApplyAll(std::string op, std::vector<ValueId> inputs, Attrs attrs = {},
                                std::vector<RegionId> regions = {});
  // Makes a `constant` node.
  ValueId Constant(Tensor value);
  template <class T>
  ValueId Scalar(T value) {
    return Constant(Tensor::Scalar<T>(value));
  }
  // Sets the region's results.
  void Yield(std::vector<ValueId> results);

  // Put on every node made from now on.
  void SetLocation(Location location) { context_->location = std::move(location); }
  void SetName(std::string name) { context_->name = std::move(name); }

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  RegionId region() const { return region_; }
  const OpCatalog& catalog() const { return *catalog_; }
  // A scalar placeholder after a fault, so that callers may look at types before checking status().
  TensorType type(ValueId value) const;

  const absl::Status& status() const { return context_->status; }
  // Records a fault of the caller's own; the first one wins.
  void Fail(absl::Status status);
  bool ok() const { return context_->status.ok(); }

 private:
  struct Context {
    absl::Status status;
    Location location;
    std::string name;
  };

  Graph* graph_;
  RegionId region_;
  const OpCatalog* catalog_;
  std::shared_ptr<Context> context_;
};

}  // namespace weir

#endif  // WEIR_COMMON_IR_BUILDER_H_
