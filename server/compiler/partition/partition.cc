#include "server/compiler/partition/partition.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ir/text.h"
#include "common/tensor/digest.h"
#include "server/compiler/partition/trips.h"

namespace weir {
namespace {

class Partitioner {
 public:
  Partitioner(const Graph& graph, absl::flat_hash_map<NodeId, NodeId> origins,
              CompileOptions::Trips trips)
      : graph_(graph),
        origins_(std::move(origins)),
        trips_(trips),
        split_(SplitValues(graph)),
        region_(graph.entry().body) {}

  absl::StatusOr<PartitionedPlan> Run() {
    for (ValueId arg : region().args) {
      out_.plan.add_inputs(AddValue(arg, v1::PlanValue::PLACEMENT_FEED));
      out_.input_names.push_back(graph_.value(arg).name);
      out_.input_types.push_back(graph_.type(arg));
    }
    AddNodes();
    for (ValueId result : region().results) {
      if (IsConstant(result)) NeedAsValue(result);
    }
    FlushRoot();
    for (ValueId result : region().results) out_.plan.add_outputs(index_.at(result));
    out_.output_names = graph_.entry().result_names;
    CopyFunctions();
    out_.plan.set_program(Print(program_, {.blob_name = [this](const Tensor& constant) {
                                  std::string name = ContentDigest(constant);
                                  out_.blobs.emplace(name, constant);
                                  return name;
                                }}));
    for (const auto& [name, tensor] : out_.blobs) out_.plan.add_blobs(name);
    return std::move(out_);
  }

 private:
  const Region& region() const { return graph_.region(region_); }

  // The nodes of the region, but for those that are pending then.
  void AddNodes() {
    for (NodeId id : region().nodes) {
      const Node& node = graph_.node(id);
      if (node.op == "constant") continue;
      if (HoldsShards(graph_, id)) {
        AddLoop(id);
      } else if (node.op == "shard") {
        if (DependsOnPending(id)) FlushRoot();
        AddSharded(id);
      } else {
        pending_.push_back(id);
      }
    }
  }

  uint32_t AddValue(ValueId value, v1::PlanValue::Placement placement) {
    const uint32_t index = AddUnnamed(value, placement);
    index_.emplace(value, index);
    return index;
  }

  bool IsConstant(ValueId value) const {
    const Node* producer = graph_.producer(value);
    return producer != nullptr && producer->op == "constant";
  }

  // Operands and captures of a node.
  std::vector<ValueId> Uses(NodeId id) const {
    std::vector<ValueId> uses = graph_.node(id).inputs;
    for (RegionId region : graph_.node(id).regions) {
      const std::vector<ValueId> captures = graph_.Captures(region);
      uses.insert(uses.end(), captures.begin(), captures.end());
    }
    return uses;
  }

  bool DependsOnPending(NodeId id) const {
    absl::flat_hash_set<ValueId> made;
    for (NodeId pending : pending_) {
      const std::vector<ValueId>& outputs = graph_.node(pending).outputs;
      made.insert(outputs.begin(), outputs.end());
    }
    for (ValueId value : Uses(id)) {
      if (made.contains(value)) return true;
    }
    return false;
  }

  // Adds `value`, whole, as a parameter of a step's function; constants are copied into the
  // function instead.
  void AddWholeOperand(ValueId value, RegionId body, v1::Step* step, ValueMap* map) {
    if (map->contains(value)) return;
    if (IsConstant(value)) {
      absl::flat_hash_map<NodeId, NodeId> nodes;
      CloneNode(graph_, graph_.value(value).producer, &program_, body, map, &nodes);
      return;
    }
    map->emplace(value, program_.AddArg(body, graph_.type(value), graph_.value(value).name));
    v1::StepOperand* operand = step->add_operands();
    operand->set_value(index_.at(value));
    operand->set_part(v1::StepOperand::PART_WHOLE);
  }

  RegionId BeginStep(std::string_view kind, v1::Step** step) {
    *step = out_.plan.add_steps();
    (*step)->set_function(StrCat("step", out_.plan.steps_size() - 1, "_", kind));
    return program_.AddFunction((*step)->function()).body;
  }

  void FinishStep(RegionId body, const std::vector<ValueId>& results) {
    program_.region(body).results = results;
    program_.functions().back().result_names.resize(results.size());
  }

  void AddSharded(NodeId id) {
    const Node& node = graph_.node(id);
    const Region& source = graph_.region(node.regions[0]);
    // First, because a constant becomes a step, which must stand in front of this one.
    std::vector<uint32_t> rows;
    for (ValueId input : node.inputs) rows.push_back(IndexOf(input));
    v1::Step* step = nullptr;
    const RegionId body = BeginStep("shard", &step);
    step->set_extent(node.attr("extent").AsDims()[0].ToString());
    step->set_local(node.attr("local").AsString());
    ValueMap map;
    map.emplace(source.args[0], program_.AddArg(body, graph_.type(source.args[0]), "first"));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId part = source.args[i + 1];
      map.emplace(part, program_.AddArg(body, graph_.type(part), graph_.value(part).name));
      v1::StepOperand* operand = step->add_operands();
      operand->set_value(rows[i]);
      operand->set_part(v1::StepOperand::PART_ROWS);
    }
    for (ValueId capture : graph_.Captures(node.regions[0])) {
      AddWholeOperand(capture, body, step, &map);
    }
    FinishStep(body, CloneRegionBody(graph_, node.regions[0], &program_, body, &map));
    for (ValueId output : node.outputs) {
      step->add_outputs(AddValue(output, v1::PlanValue::PLACEMENT_SPLIT));
    }
  }

  // The plan's index of a value; a constant that is cut into rows becomes the result of a step of
  // its own.
  uint32_t IndexOf(ValueId value) {
    if (!index_.contains(value)) {
      NeedAsValue(value);
      std::vector<NodeId> kept = std::exchange(pending_, {});
      FlushRoot();
      pending_ = std::move(kept);
    }
    return index_.at(value);
  }

  // The next step on rank 0 makes a value of the plan of a constant.
  void NeedAsValue(ValueId constant) {
    const bool is_there =
        index_.contains(constant) ||
        std::find(constants_out_.begin(), constants_out_.end(), constant) != constants_out_.end();
    if (!is_there) constants_out_.push_back(constant);
  }

  // What a loop carries, or takes by rows, is a value also where it is a constant: made in front of
  // the loop, as none of its trips may run.
  void NeedConstantsOf(NodeId loop) {
    const auto need = [&](const std::vector<ValueId>& values) {
      for (ValueId value : values) {
        if (IsConstant(value)) NeedAsValue(value);
      }
    };
    need(graph_.node(loop).inputs);
    for (RegionId region : graph_.node(loop).regions) {
      need(graph_.region(region).results);
      for (NodeId id : graph_.region(region).nodes) {
        if (graph_.node(id).op == "shard") need(graph_.node(id).inputs);
        if (HoldsShards(graph_, id)) NeedConstantsOf(id);
      }
    }
  }

  // A `while` as steps of the plan.
  void AddLoop(NodeId id) {
    const Node& node = graph_.node(id);
    const RegionId condition = node.regions[0], body = node.regions[1];
    NeedConstantsOf(id);
    FlushRoot();
    std::vector<size_t> carried;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const bool stays = graph_.region(body).results[k] == graph_.region(body).args[k];
      if (stays) {
        BindCarried(node, k, index_.at(node.inputs[k]));
      } else {
        carried.push_back(k);
      }
    }
    AddWhole(id, carried);
    std::vector<uint32_t> values;
    for (size_t k : carried) {
      values.push_back(AddValue(node.outputs[k], PlacementOf(node.outputs[k])));
      BindCarried(node, k, values.back());
    }
    AddCarrying(v1::Step::CONTROL_ENTER, carried, node.inputs, values);
    const RegionId outside = std::exchange(region_, condition);
    AddCondition();
    region_ = body;
    AddNodes();
    FlushRoot();
    AddCarrying(v1::Step::CONTROL_REPEAT, carried, region().results, values);
    region_ = outside;
    LeaveLoop(node, carried, values);
    NoteLoop(id, carried);
  }

  // What is used behind the loop is a value of its own: of what it carries only as much moves in
  // each trip as trips need.
  void LeaveLoop(const Node& loop, const std::vector<size_t>& carried,
                 const std::vector<uint32_t>& values) {
    absl::flat_hash_set<ValueId> used(region().results.begin(), region().results.end());
    for (NodeId id : region().nodes) {
      for (ValueId value : Uses(id)) used.insert(value);
    }
    v1::Step* step = nullptr;
    for (size_t i = 0; i < carried.size(); ++i) {
      const ValueId output = loop.outputs[carried[i]];
      if (!used.contains(output)) continue;
      if (step == nullptr) step = out_.plan.add_steps();
      step->set_control(v1::Step::CONTROL_LEAVE);
      AddCarried(values[i], AddUnnamed(output, PlacementOf(output)), step);
      index_.insert_or_assign(output, step->outputs(step->outputs_size() - 1));
    }
  }

  void AddCarried(uint32_t from, uint32_t to, v1::Step* step) const {
    v1::StepOperand* operand = step->add_operands();
    operand->set_value(from);
    const bool rows =
        out_.plan.values(static_cast<int>(to)).placement() == v1::PlanValue::PLACEMENT_SPLIT;
    operand->set_part(rows ? v1::StepOperand::PART_ROWS : v1::StepOperand::PART_WHOLE);
    step->add_outputs(to);
  }

  v1::PlanValue::Placement PlacementOf(ValueId value) const {
    return split_.contains(value) ? v1::PlanValue::PLACEMENT_SPLIT : v1::PlanValue::PLACEMENT_ROOT;
  }

  void BindCarried(const Node& loop, size_t k, uint32_t value) {
    for (RegionId region : loop.regions) {
      index_.insert_or_assign(graph_.region(region).args[k], value);
    }
    index_.insert_or_assign(loop.outputs[k], value);
  }

  // The loop as it is, for runs whose trips have little to do.
  void AddWhole(NodeId id, const std::vector<size_t>& carried) {
    const Dim work = WorkOfTrip(graph_, id);
    if (trips_ == CompileOptions::Trips::kSplit || work.is_unknown()) return;
    const auto origin = origins_.find(id);
    const NodeId whole = origin == origins_.end() ? id : origin->second;
    v1::Step* step = nullptr;
    const RegionId body = BeginStep("loop", &step);
    step->set_control(v1::Step::CONTROL_WHOLE);
    step->set_work(work.ToString());
    ValueMap map;
    for (ValueId value : Uses(whole)) AddWholeOperand(value, body, step, &map);
    absl::flat_hash_map<NodeId, NodeId> clones;
    CloneNode(graph_, whole, &program_, body, &map, &clones);
    std::vector<ValueId> results;
    for (size_t k : carried) {
      results.push_back(map.at(WholeResult(graph_.node(id), graph_.node(whole), k)));
      step->add_outputs(AddUnnamed(graph_.node(id).outputs[k], v1::PlanValue::PLACEMENT_ROOT));
    }
    FinishStep(body, results);
  }

  // A counted loop has no result that is its number of trips, which nobody uses.
  static ValueId WholeResult(const Node& loop, const Node& whole, size_t k) {
    if (whole.op == "while") return loop.outputs[k];
    return k == 0 ? whole.inputs[0] : whole.outputs[k - 1];
  }

  void AddCarrying(v1::Step::Control control, const std::vector<size_t>& carried,
                   const std::vector<ValueId>& from, const std::vector<uint32_t>& to) {
    v1::Step* step = out_.plan.add_steps();
    step->set_control(control);
    for (size_t i = 0; i < carried.size(); ++i) {
      AddCarried(index_.at(from[carried[i]]), to[i], step);
    }
  }

  // The condition of a loop, with a step on rank 0 that makes what decides.
  void AddCondition() {
    const int first = out_.plan.steps_size();
    AddNodes();
    FlushRoot();
    const ValueId goes_on = region().results[0];
    std::optional<uint32_t> decides = MadeByFunction(goes_on, first);
    if (!decides.has_value()) {
      v1::Step* step = nullptr;
      const RegionId body = BeginStep("condition", &step);
      ValueMap map;
      AddWholeOperand(goes_on, body, step, &map);
      decides = AddUnnamed(goes_on, v1::PlanValue::PLACEMENT_ROOT);
      step->add_outputs(*decides);
      FinishStep(body, {map.at(goes_on)});
    }
    v1::Step* test = out_.plan.add_steps();
    test->set_control(v1::Step::CONTROL_TEST);
    test->add_operands()->set_value(*decides);
    test->mutable_operands(0)->set_part(v1::StepOperand::PART_WHOLE);
  }

  // The plan's value of `value` if a function makes it in a step from `first` on.
  std::optional<uint32_t> MadeByFunction(ValueId value, int first) const {
    const auto index = index_.find(value);
    if (index == index_.end()) return std::nullopt;
    for (int i = first; i < out_.plan.steps_size(); ++i) {
      const v1::Step& step = out_.plan.steps(i);
      const auto& outputs = step.outputs();
      if (step.control() == v1::Step::CONTROL_NONE &&
          std::find(outputs.begin(), outputs.end(), index->second) != outputs.end()) {
        return index->second;
      }
    }
    return std::nullopt;
  }

  void NoteLoop(NodeId id, const std::vector<size_t>& carried) {
    const Node& node = graph_.node(id);
    size_t by_rows = 0;
    for (size_t k : carried) by_rows += split_.contains(node.outputs[k]) ? 1 : 0;
    const Dim work = WorkOfTrip(graph_, id);
    std::string note = StrCat(graph_.Describe(id), ": workers share each trip; of ", carried.size(),
                              " values that it carries, ", by_rows, " stay where their rows are");
    if (trips_ == CompileOptions::Trips::kSplitByWork && !work.is_unknown()) {
      StrAppend(&note, "; a trip of few operations (", work.ToString(), ") runs on rank 0");
    }
    out_.notes.push_back(std::move(note));
  }

  // A value of the plan that is not what the graph's value is known as.
  uint32_t AddUnnamed(ValueId value, v1::PlanValue::Placement placement) {
    const uint32_t index = static_cast<uint32_t>(out_.plan.values_size());
    v1::PlanValue* made = out_.plan.add_values();
    made->set_name(graph_.value(value).name);
    made->set_type(graph_.type(value).ToString());
    made->set_placement(placement);
    return index;
  }

  // Values that the pending nodes make and that are used after them.
  std::vector<ValueId> EscapingValues() const {
    absl::flat_hash_set<NodeId> inside(pending_.begin(), pending_.end());
    absl::flat_hash_set<ValueId> used(region().results.begin(), region().results.end());
    for (NodeId id : region().nodes) {
      if (inside.contains(id)) continue;
      for (ValueId value : Uses(id)) used.insert(value);
    }
    std::vector<ValueId> escaping;
    for (NodeId id : pending_) {
      for (ValueId output : graph_.node(id).outputs) {
        if (used.contains(output)) escaping.push_back(output);
      }
    }
    return escaping;
  }

  void FlushRoot() {
    std::vector<ValueId> results = EscapingValues();
    for (ValueId constant : std::exchange(constants_out_, {})) results.push_back(constant);
    absl::flat_hash_set<ValueId> listed;
    std::erase_if(results, [&](ValueId result) { return !listed.insert(result).second; });
    const std::vector<NodeId> nodes = std::exchange(pending_, {});
    // What is pending without a result has an effect; the rest was dead and is gone.
    if (results.empty() && nodes.empty()) return;
    v1::Step* step = nullptr;
    const RegionId body = BeginStep("root", &step);
    absl::flat_hash_set<ValueId> made;
    for (NodeId id : nodes) {
      const std::vector<ValueId>& outputs = graph_.node(id).outputs;
      made.insert(outputs.begin(), outputs.end());
    }
    ValueMap map;
    for (NodeId id : nodes) {
      for (ValueId value : Uses(id)) {
        if (!made.contains(value)) AddWholeOperand(value, body, step, &map);
      }
    }
    for (ValueId result : results) {
      if (!made.contains(result)) AddWholeOperand(result, body, step, &map);
    }
    absl::flat_hash_map<NodeId, NodeId> clones;
    for (NodeId id : nodes) CloneNode(graph_, id, &program_, body, &map, &clones);
    std::vector<ValueId> images;
    for (ValueId result : results) {
      images.push_back(map.at(result));
      if (!index_.contains(result)) AddValue(result, v1::PlanValue::PLACEMENT_ROOT);
      step->add_outputs(index_.at(result));
    }
    FinishStep(body, images);
  }

  // The functions that steps call.
  void CopyFunctions() {
    for (const Function& function : graph_.functions()) {
      if (&function == &graph_.entry() || program_.FindFunction(function.name) != nullptr) continue;
      const RegionId body = program_.AddFunction(function.name).body;
      ValueMap map;
      for (ValueId arg : graph_.region(function.body).args) {
        map.emplace(arg, program_.AddArg(body, graph_.type(arg), graph_.value(arg).name));
      }
      FinishStep(body, CloneRegionBody(graph_, function.body, &program_, body, &map));
    }
  }

  const Graph& graph_;
  const absl::flat_hash_map<NodeId, NodeId> origins_;  // as CountByWhile
  const CompileOptions::Trips trips_;
  const absl::flat_hash_set<ValueId> split_;
  RegionId region_;  // the entry's, or one of a loop that is being added
  Graph program_;
  PartitionedPlan out_;
  std::vector<NodeId> pending_;         // nodes for the next step on rank 0
  std::vector<ValueId> constants_out_;  // constants that must become values of the plan
  absl::flat_hash_map<ValueId, uint32_t> index_;
};

}  // namespace

absl::StatusOr<PartitionedPlan> Partition(const Graph& graph, const CompileOptions& options) {
  Graph lowered = graph;
  WEIR_ASSIGN_OR_RETURN(auto origins, CountByWhile(&lowered));
  return Partitioner(lowered, std::move(origins), options.trips).Run();
}

}  // namespace weir
