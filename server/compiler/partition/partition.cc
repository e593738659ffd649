#include "server/compiler/partition/partition.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ir/text.h"
#include "common/tensor/digest.h"

namespace weir {
namespace {

class Partitioner {
 public:
  explicit Partitioner(const Graph& graph)
      : graph_(graph), body_(graph.region(graph.entry().body)) {}

  absl::StatusOr<PartitionedPlan> Run() {
    for (ValueId arg : body_.args) {
      out_.plan.add_inputs(AddValue(arg, v1::PlanValue::PLACEMENT_FEED));
      out_.input_names.push_back(graph_.value(arg).name);
      out_.input_types.push_back(graph_.type(arg));
    }
    for (NodeId id : body_.nodes) {
      const Node& node = graph_.node(id);
      if (node.op == "constant") continue;
      if (node.op != "shard") {
        pending_.push_back(id);
        continue;
      }
      if (DependsOnPending(id)) FlushRoot();
      AddSharded(id);
    }
    for (ValueId result : body_.results) {
      if (!index_.contains(result)) constants_out_.push_back(result);
    }
    FlushRoot();
    for (ValueId result : body_.results) out_.plan.add_outputs(index_.at(result));
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
  uint32_t AddValue(ValueId value, v1::PlanValue::Placement placement) {
    const uint32_t index = static_cast<uint32_t>(out_.plan.values_size());
    v1::PlanValue* made = out_.plan.add_values();
    made->set_name(graph_.value(value).name);
    made->set_type(graph_.type(value).ToString());
    made->set_placement(placement);
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
    auto it = index_.find(value);
    if (it != index_.end()) return it->second;
    constants_out_.push_back(value);
    std::vector<NodeId> kept = std::exchange(pending_, {});
    FlushRoot();
    pending_ = std::move(kept);
    return index_.at(value);
  }

  // Values that the pending nodes make and that are used after them.
  std::vector<ValueId> EscapingValues() const {
    absl::flat_hash_set<NodeId> inside(pending_.begin(), pending_.end());
    absl::flat_hash_set<ValueId> used(body_.results.begin(), body_.results.end());
    for (NodeId id : body_.nodes) {
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
  const Region& body_;
  Graph program_;
  PartitionedPlan out_;
  std::vector<NodeId> pending_;         // nodes for the next step on rank 0
  std::vector<ValueId> constants_out_;  // constants that must become values of the plan
  absl::flat_hash_map<ValueId, uint32_t> index_;
};

}  // namespace

absl::StatusOr<PartitionedPlan> Partition(const Graph& graph) { return Partitioner(graph).Run(); }

}  // namespace weir
