#include "common/ops/control/meetings.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/control/loop_body.h"
#include "common/ops/control/ragged.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir::control {
namespace {

constexpr std::string_view kReduction = "iteration_reduce";

using Replacements = absl::flat_hash_map<ValueId, ValueId>;
// Makes the results of a branch.
using BranchFn = std::function<std::vector<ValueId>(Builder&)>;

std::vector<ValueId> ZerosOf(Builder& b, const std::vector<TensorType>& types) {
  std::vector<ValueId> zeros;
  for (const TensorType& type : types) {
    zeros.push_back(Full(b, type.dtype, type.shape.dims(), 0));
  }
  return zeros;
}

class Lift {
 public:
  Lift(Graph* graph, RegionId region, NodeId branches)
      : graph_(graph), id_(branches), node_(graph->node(branches)), b_(graph, region, &Ops()) {
    b_.SetLocation(node_.location);
    b_.SetName(node_.name);
    while (FirstMeeting(*graph, node_.regions[branch_]) < 0) ++branch_;
  }

  // Appends to the region what comes in place of the branches.
  absl::Status Run() {
    const RegionId branch = node_.regions[branch_];
    const std::vector<NodeId> nodes = graph_->region(branch).nodes;
    const auto at = nodes.begin() + FirstMeeting(*graph_, branch);
    const std::vector<NodeId> before(nodes.begin(), at), rest(at, nodes.end());
    const std::vector<NodeId> after(at + 1, nodes.end());
    DropControlInputs(graph_, rest);
    RunBefore(before, rest, graph_->region(branch).results);
    WEIR_RETURN_IF_ERROR(LiftMeeting(*at));
    graph_->region(branch).nodes = after;
    ReplaceInside(branch);
    graph_->region(b_.region()).nodes.push_back(id_);
    return b_.status();
  }

 private:
  // The same branches; `taken` makes the results of the one with the meeting, `others` of the rest.
  std::vector<ValueId> Branches(Builder& b, const BranchFn& taken, const BranchFn& others) const {
    std::vector<RegionId> regions;
    for (size_t k = 0; k < node_.regions.size(); ++k) {
      Builder inside = b.In(b.NewRegion());
      inside.Yield(k == branch_ ? taken(inside) : others(inside));
      regions.push_back(inside.region());
    }
    return b.ApplyAll(node_.op, node_.inputs, node_.attrs, std::move(regions));
  }

  // What stands before the meeting; what the rest needs of it is zeros where it does not run.
  void RunBefore(const std::vector<NodeId>& before, const std::vector<NodeId>& rest,
                 const std::vector<ValueId>& results) {
    if (before.empty()) return;
    const std::vector<ValueId> live = LiveValues(*graph_, before, rest, results);
    std::vector<TensorType> types;
    for (ValueId value : live) types.push_back(graph_->type(value));
    const std::vector<ValueId> made = Branches(
        b_,
        [&](Builder& inside) {
          for (NodeId id : before) MoveNode(graph_, id, inside.region());
          return live;
        },
        [&](Builder& inside) { return ZerosOf(inside, types); });
    for (size_t k = 0; k < made.size(); ++k) replacements_.emplace(live[k], made[k]);
  }

  ValueId Here(ValueId value) const {
    auto it = replacements_.find(value);
    return it == replacements_.end() ? value : it->second;
  }

  std::vector<ValueId> Here(std::vector<ValueId> values) const {
    for (ValueId& value : values) value = Here(value);
    return values;
  }

  // `value` where the branch runs, else what `other` makes.
  ValueId Guarded(Builder& b, ValueId value, const std::function<ValueId(Builder&)>& other) const {
    const std::vector<ValueId> made = Branches(
        b, [&](Builder&) { return std::vector<ValueId>{value}; },
        [&](Builder& inside) { return std::vector<ValueId>{other(inside)}; });
    return made.empty() ? ValueId() : made[0];
  }

  absl::Status LiftMeeting(NodeId id) {
    const Node meeting = graph_->node(id);
    b_.SetLocation(meeting.location);
    b_.SetName(meeting.name);
    std::vector<ValueId> made;
    if (meeting.op == kReduction) {
      made = {Reduction(meeting)};
    } else if (meeting.op == "if" || meeting.op == "case") {
      made = InnerBranches(meeting);
    } else if (meeting.op == "while") {
      made = While(meeting);
    } else if (meeting.op == "for") {
      made = For(meeting);
    } else {
      return absl::UnimplementedError(StrCat(
          graph_->Describe(id), ": iterations of a loop cannot meet inside of a ", meeting.op));
    }
    WEIR_RETURN_IF_ERROR(b_.status());
    for (size_t k = 0; k < made.size(); ++k) replacements_.emplace(meeting.outputs[k], made[k]);
    return absl::OkStatus();
  }

  ValueId ReduceAll(ValueId value, const std::string& kind, const Attr& extent) {
    return b_.Apply(std::string(kReduction), {value}, {{"extent", extent}, {"kind", kind}});
  }

  // Iterations elsewhere give what changes no result.
  ValueId Reduction(const Node& meeting) {
    const std::string& kind = meeting.attr("kind").AsString();
    const Attr& extent = meeting.attr("extent");
    const ValueId value = Here(meeting.inputs[0]);
    const TensorType type = graph_->type(value);
    if (kind == "mean") return MeanHere(value, extent);
    const ValueId guarded = Guarded(b_, value, [&](Builder& inside) {
      return kind == "gather" ? Full(inside, type.dtype, type.shape.dims(), 0)
                              : ReductionIdentity(inside, kind, type);
    });
    return ReduceAll(guarded, kind, extent);
  }

  ValueId MeanHere(ValueId value, const Attr& extent) {
    const DType dtype = graph_->type(value).dtype;
    const bool is_half = dtype == DType::kF16 || dtype == DType::kBF16;
    const ValueId wide = Cast(b_, value, is_half ? DType::kF32 : dtype);
    const ValueId guarded = Guarded(b_, wide, [&](Builder& inside) {
      return ReductionIdentity(inside, "sum", graph_->type(wide));
    });
    const ValueId sum = ReduceAll(guarded, "sum", extent);
    const ValueId one = b_.Scalar<int64_t>(1);
    const ValueId here =
        Guarded(b_, one, [](Builder& inside) { return inside.Scalar<int64_t>(0); });
    const ValueId count = Cast(b_, ReduceAll(here, "sum", extent), b_.type(sum).dtype);
    return Cast(b_, b_.Apply("divide", BroadcastAll(b_, {sum, count})), dtype);
  }

  // One more branch, for the iterations elsewhere.
  std::vector<ValueId> InnerBranches(const Node& meeting) {
    const int64_t branches = static_cast<int64_t>(meeting.regions.size());
    const ValueId chosen = Here(meeting.inputs[0]);
    const std::vector<ValueId> index = Branches(
        b_,
        [&](Builder& inside) { return std::vector<ValueId>{IndexOf(inside, chosen, branches)}; },
        [&](Builder& inside) { return std::vector<ValueId>{inside.Scalar<int64_t>(branches)}; });
    Builder elsewhere = b_.In(b_.NewRegion());
    std::vector<TensorType> types;
    for (ValueId output : meeting.outputs) types.push_back(graph_->type(output));
    elsewhere.Yield(ZerosOf(elsewhere, types));
    std::vector<RegionId> regions = Detached(meeting);
    regions.push_back(elsewhere.region());
    return b_.ApplyAll("case", index, {}, std::move(regions));
  }

  // i64[] of the branch that is taken; one out of range is the last.
  static ValueId IndexOf(Builder& b, ValueId chosen, int64_t branches) {
    if (b.type(chosen).dtype == DType::kBool) {
      return Cast(b, b.Apply("not", {chosen}), DType::kI64);
    }
    const ValueId index = Cast(b, chosen, DType::kI64);
    const ValueId last = b.Scalar<int64_t>(branches - 1);
    const ValueId below = b.Apply("less", {index, b.Scalar<int64_t>(0)});
    return b.Apply("select", {below, last, b.Apply("minimum", {index, last})});
  }

  // Its regions, to be given to another node.
  std::vector<RegionId> Detached(const Node& meeting) {
    for (RegionId region : meeting.regions) {
      ReplaceInside(region);
      graph_->region(region).parent = NodeId();
    }
    return meeting.regions;
  }

  // At once: builders check what a region uses when a node takes it.
  void ReplaceInside(RegionId region) {
    for (NodeId id : graph_->region(region).nodes) {
      for (ValueId& input : graph_->node(id).inputs) input = Here(input);
      for (RegionId inner : graph_->node(id).regions) ReplaceInside(inner);
    }
    for (ValueId& result : graph_->region(region).results) result = Here(result);
  }

  // The condition is false for iterations elsewhere.
  std::vector<ValueId> While(const Node& meeting) {
    const std::vector<RegionId> regions = Detached(meeting);
    Builder condition = b_.In(regions[0]);
    const std::vector<NodeId> nodes = std::exchange(graph_->region(regions[0]).nodes, {});
    const std::vector<ValueId> results = graph_->region(regions[0]).results;
    condition.Yield(Branches(
        condition,
        [&](Builder& inside) {
          for (NodeId id : nodes) MoveNode(graph_, id, inside.region());
          return results;
        },
        [](Builder& inside) { return std::vector<ValueId>{inside.Scalar<bool>(false)}; }));
    return b_.ApplyAll("while", Here(meeting.inputs), meeting.attrs, regions);
  }

  // Iterations elsewhere make no trip, or trips that change and collect nothing.
  std::vector<ValueId> For(const Node& meeting) {
    const std::vector<RegionId> regions = Detached(meeting);
    const Attr* extent = meeting.FindAttr("extent");
    std::vector<ValueId> operands = Here(meeting.inputs);
    operands[0] = Guarded(b_, operands[0], [&](Builder& inside) {
      return extent == nullptr ? inside.Scalar<int64_t>(0) : DimValue(inside, extent->AsDims()[0]);
    });
    if (extent != nullptr) GuardBody(regions[0], operands.size() - 1);
    return b_.ApplyAll("for", std::move(operands), meeting.attrs, regions);
  }

  void GuardBody(RegionId region, size_t num_carried) {
    Builder body = b_.In(region);
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    const std::vector<ValueId> results = graph_->region(region).results;
    const std::vector<ValueId> args = graph_->region(region).args;
    std::vector<TensorType> collected;
    for (size_t k = num_carried; k < results.size(); ++k) {
      collected.push_back(graph_->type(results[k]));
    }
    body.Yield(Branches(
        body,
        [&](Builder& inside) {
          for (NodeId id : nodes) MoveNode(graph_, id, inside.region());
          return results;
        },
        [&](Builder& inside) {
          std::vector<ValueId> same(args.begin() + 1, args.begin() + 1 + num_carried);
          const std::vector<ValueId> zeros = ZerosOf(inside, collected);
          same.insert(same.end(), zeros.begin(), zeros.end());
          return same;
        }));
  }

  Graph* graph_;
  const NodeId id_;
  const Node node_;
  Builder b_;
  size_t branch_ = 0;
  Replacements replacements_;
};

}  // namespace

bool Meets(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.op == kReduction ||
         std::any_of(node.regions.begin(), node.regions.end(),
                     [&](RegionId region) { return FirstMeeting(graph, region) >= 0; });
}

int FirstMeeting(const Graph& graph, RegionId region) {
  const std::vector<NodeId>& nodes = graph.region(region).nodes;
  for (size_t at = 0; at < nodes.size(); ++at) {
    if (Meets(graph, nodes[at])) return static_cast<int>(at);
  }
  return -1;
}

absl::Status LiftFirstMeeting(Graph* graph, RegionId region, int at) {
  std::vector<NodeId> nodes = std::exchange(graph->region(region).nodes, {});
  const NodeId branches = nodes[static_cast<size_t>(at)];
  graph->region(region).nodes.assign(nodes.begin(), nodes.begin() + at);
  WEIR_RETURN_IF_ERROR(Annotate(Lift(graph, region, branches).Run(), graph->Describe(branches)));
  std::vector<NodeId>& rebuilt = graph->region(region).nodes;
  rebuilt.insert(rebuilt.end(), nodes.begin() + at + 1, nodes.end());
  return absl::OkStatus();
}

}  // namespace weir::control
