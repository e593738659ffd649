#include "worker/executor/op_counts.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ops/registry.h"
#include "worker/executor/activation.h"

namespace weir {
namespace {

size_t IndexOf(const OpDef* op) { return static_cast<size_t>(op - AllOps().data()); }

ActivationCounts::Op& Entry(size_t op, ActivationCounts* counts) {
  const auto has_op = [op](const ActivationCounts::Op& each) { return each.op == op; };
  auto it = std::find_if(counts->ops.begin(), counts->ops.end(), has_op);
  if (it == counts->ops.end()) it = counts->ops.insert(it, {.op = op});
  return *it;
}

absl::StatusOr<int64_t> ElementsOf(const Activation& activation, ValueId value) {
  const TensorType& type = activation.plan().graph().type(value);
  WEIR_ASSIGN_OR_RETURN(const Extents extents, type.shape.Evaluate(activation.symbols()));
  return NumElements(extents);
}

absl::StatusOr<int64_t> BytesGathered(const Activation& activation, const OpDef& op,
                                      const Node& node) {
  if (op.by_index == ByIndex::kNothing) return 0;
  const ValueId moved = op.by_index == ByIndex::kResult ? node.outputs[0] : node.inputs.back();
  WEIR_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(activation, moved));
  return elements * SizeOf(activation.plan().graph().type(moved).dtype);
}

absl::Status AddLaunch(const Activation& activation, const RegionPlan::Step& step,
                       ActivationCounts* counts) {
  std::vector<size_t> launched;
  for (NodeId id : step.nodes) {
    const Node& node = activation.plan().graph().node(id);
    const OpDef* op = FindOp(node.op);
    ActivationCounts::Op& entry = Entry(IndexOf(op), counts);
    for (ValueId output : node.outputs) {
      WEIR_ASSIGN_OR_RETURN(const int64_t elements, ElementsOf(activation, output));
      entry.elements += elements;
    }
    WEIR_ASSIGN_OR_RETURN(const int64_t bytes, BytesGathered(activation, *op, node));
    counts->bytes_gathered += bytes;
    if (std::find(launched.begin(), launched.end(), entry.op) != launched.end()) continue;
    launched.push_back(entry.op);
    ++entry.launches;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ActivationCounts> ActivationCounts::Of(const Activation& activation) {
  ActivationCounts counts;
  const std::vector<RegionPlan::Step>& steps = activation.plan().steps();
  for (size_t s = 0; s < steps.size(); ++s) {
    const bool runs_kernel = steps[s].kind == RegionPlan::Step::Kind::kKernel;
    if (!runs_kernel && !activation.step(static_cast<int>(s)).copies) continue;
    WEIR_RETURN_IF_ERROR(AddLaunch(activation, steps[s], &counts));
  }
  return counts;
}

OpCounts::OpCounts() : counts_(AllOps().size()) {}

void OpCounts::Add(const ActivationCounts& run) {
  for (const ActivationCounts::Op& each : run.ops) {
    counts_[each.op].launches += each.launches;
    counts_[each.op].elements += each.elements;
  }
  bytes_gathered_ += run.bytes_gathered;
}

void OpCounts::AddTime(const OpDef& op, int64_t ns) {
  counts_[IndexOf(&op)].ns += ns;
  ns_ += ns;
}

void OpCounts::Add(const OpCounts& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].launches += other.counts_[i].launches;
    counts_[i].elements += other.counts_[i].elements;
    counts_[i].ns += other.counts_[i].ns;
  }
  bytes_gathered_ += other.bytes_gathered_;
  ns_ += other.ns_;
}

const OpCounts::Count& OpCounts::of(std::string_view op) const {
  return counts_[IndexOf(FindOp(op))];
}

}  // namespace weir
