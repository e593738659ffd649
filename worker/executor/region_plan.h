// The part of an executable that does not depend on extents: the launches of one region in the
// order in which they run, and the table of its values. Immutable after Create; shared by all
// threads that run the region.
#ifndef WEIR_WORKER_EXECUTOR_REGION_PLAN_H_
#define WEIR_WORKER_EXECUTOR_REGION_PLAN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ops/op_def.h"
#include "worker/device/cpu/kernel.h"

namespace weir {

class RegionPlan;
// Plans of the functions that the program calls, by name.
using FunctionPlans = std::map<std::string, std::unique_ptr<RegionPlan>, std::less<>>;

class RegionPlan {
 public:
  // Where a value's memory comes from.
  enum class Origin {
    kExternal,  // an argument or a capture: given by whoever runs the region
    kConstant,
    kMade,  // by a step of this region
    kView,  // of another value of this region
  };
  struct ValueInfo {
    ValueId id;
    Origin origin = Origin::kMade;
    int external = -1;                 // index among externals
    const Tensor* constant = nullptr;  // row-major
    int result = -1;                   // region result whose memory the value is made in, if any
  };
  struct Step {
    enum class Kind { kKernel, kView, kControl };
    Kind kind = Kind::kKernel;
    NodeId node;  // for messages; the first of a group
    std::vector<NodeId> nodes;
    std::unique_ptr<cpu::Kernel> kernel;
    bool in_place = false;  // operands may be overwritten as the op's definition says
    const OpDef* op = nullptr;
    std::vector<int> operands;  // indices of values
    std::vector<int> results;
    // Control ops: plans of the node's regions; their captures are values of this region.
    std::vector<std::unique_ptr<RegionPlan>> regions;
    std::vector<std::vector<int>> captures;  // by region
    const RegionPlan* callee = nullptr;
  };

  // `functions` holds an entry, perhaps still null, for every function; entries are filled when all
  // are made.
  static absl::StatusOr<std::unique_ptr<RegionPlan>> Create(const Graph& graph, RegionId region,
                                                            const std::vector<ValueId>& captures,
                                                            Isa isa);
  // Connects `call` steps to the functions' plans.
  void Link(const FunctionPlans& functions);

  const Graph& graph() const { return *graph_; }
  int num_externals() const { return num_externals_; }  // arguments, then captures
  int num_args() const { return num_args_; }
  const std::vector<ValueInfo>& values() const { return values_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<int>& results() const { return results_; }
  // The argument that a result is an update of, or an update of an update, and that nothing reads
  // behind the update, or -1: the result may be made where that argument lies, which then costs the
  // updates and no copy.
  int updated_arg(int result) const;
  const TensorType& type(int value) const { return graph_->type(values_[value].id); }

 private:
  explicit RegionPlan(const Graph& graph) : graph_(&graph) {}
  int IndexOf(ValueId value);
  absl::Status AddSteps(RegionId region, Isa isa);
  absl::Status AddControl(Step* step, Isa isa);
  std::vector<int> Roots() const;
  int UpdatedValue(int value, const std::vector<int>& root) const;
  void FindUpdates();
  void OrderSteps();
  void BindResults();

  const Graph* graph_;
  int num_args_ = 0;
  int num_externals_ = 0;
  std::vector<ValueInfo> values_;
  absl::flat_hash_map<ValueId, int> index_;
  std::vector<Step> steps_;
  std::vector<int> results_;
  // For each result that is an update of an argument: it, what it updates, ..., the argument.
  std::vector<std::vector<int>> updates_;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_REGION_PLAN_H_
