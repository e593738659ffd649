#include "tests/programs/outline.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

constexpr char kName[] = "again";
constexpr int kMostCallsInside = 3;

bool IsStatic(const TensorType& type) {
  const std::vector<Dim>& dims = type.shape.dims();
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_number(); });
}

class Outline {
 public:
  explicit Outline(RandomProgram* program)
      : graph_(program->graph), random_(program->seed + 0x5eed), entry_(graph_.entry().body) {}

  bool Run() {
    if (!Choose()) return false;
    MakeFunction();
    MakeCall();
    return true;
  }

 private:
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }

  // --- The node, likely one with regions.

  bool Choose() {
    std::vector<NodeId> plain, with_regions;
    Collect(graph_.region(entry_).nodes.back(), &plain, &with_regions);
    const bool takes_regions = !with_regions.empty() && (plain.empty() || Chance(85));
    const std::vector<NodeId>& list = takes_regions ? with_regions : plain;
    if (list.empty()) return false;
    node_ = list[random_() % list.size()];
    inputs_ = graph_.node(node_).inputs;
    for (RegionId region : graph_.node(node_).regions) {
      const std::vector<ValueId> captures = graph_.Captures(region);
      inputs_.insert(inputs_.end(), captures.begin(), captures.end());
    }
    std::sort(inputs_.begin(), inputs_.end());
    inputs_.erase(std::unique(inputs_.begin(), inputs_.end()), inputs_.end());
    return true;
  }

  void Collect(NodeId parent, std::vector<NodeId>* plain, std::vector<NodeId>* with_regions) {
    for (RegionId region : graph_.node(parent).regions) {
      for (NodeId id : graph_.region(region).nodes) {
        const Node& node = graph_.node(id);
        if (node.op != "constant" && node.op != "pfor" && !HasState(id) && IsStaticNode(node)) {
          (node.regions.empty() ? plain : with_regions)->push_back(id);
        }
        Collect(id, plain, with_regions);
      }
    }
  }

  bool HasState(NodeId id) const {
    const Node& node = graph_.node(id);
    const OpDef* op = FindOp(node.op);
    if (op == nullptr || op->effect != Effect::kPure) return true;
    return std::any_of(node.regions.begin(), node.regions.end(), [&](RegionId region) {
      const std::vector<NodeId>& nodes = graph_.region(region).nodes;
      return std::any_of(nodes.begin(), nodes.end(), [&](NodeId inner) { return HasState(inner); });
    });
  }

  bool IsStaticNode(const Node& node) const {
    return !node.outputs.empty() &&
           std::all_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId output) { return IsStatic(graph_.type(output)); });
  }

  // --- The function.

  void MakeFunction() {
    const RegionId body = graph_.AddFunction(kName).body;
    Builder b(&graph_, body, &Ops());
    const ValueId depth = b.AddArg({DType::kI64, Shape()}, "depth");
    ValueMap map;
    absl::flat_hash_map<NodeId, NodeId> nodes;
    // Constants go along: the number of trips of a loop that collects must be what it is.
    std::erase_if(inputs_, [&](ValueId input) {
      const NodeId producer = graph_.value(input).producer;
      if (!producer.valid() || graph_.node(producer).op != "constant") return false;
      CloneNode(graph_, producer, &graph_, body, &map, &nodes);
      return true;
    });
    for (ValueId input : inputs_) {
      params_.push_back(b.AddArg(graph_.type(input)));
      map.emplace(input, params_.back());
    }
    goes_on_ = b.Apply("less", {b.Scalar<int64_t>(0), depth});
    below_ = b.Apply("subtract", {depth, b.Scalar<int64_t>(1)});
    const NodeId copy = CloneNode(graph_, node_, &graph_, body, &map, &nodes);
    outputs_ = graph_.node(copy).outputs;
    graph_.region(body).results = outputs_;  // says what calls return
    CallInside(copy);
    if (Chance(60)) {
      Builder deeper = b.In(b.NewRegion()), ends = b.In(b.NewRegion());
      std::vector<ValueId> results = Call(deeper);
      for (size_t i = 0; i < results.size(); ++i) {
        if (Chance(30)) results[i] = outputs_[i];
      }
      deeper.Yield(std::move(results));
      ends.Yield(outputs_);
      b.Yield(b.ApplyAll("if", {goes_on_}, {}, {deeper.region(), ends.region()}));
    }
    graph_.functions().back().result_names.resize(outputs_.size());
  }

  // A parallel loop of the function cannot hold a recursive call; with one in a loop of a loop the
  // calls at each depth would be as many as the trips of both, which takes minutes.
  void CallInside(NodeId id, int loops_around = 0) {
    const Node node = graph_.node(id);
    if (node.op == "pfor") return;
    const int loops = loops_around + (node.op == "while" || node.op == "for" ? 1 : 0);
    for (RegionId region : node.regions) {
      const std::vector<NodeId> inner = graph_.region(region).nodes;
      for (NodeId inside : inner) CallInside(inside, loops);
      if (loops <= 1 && Chance(50)) CallAtEnd(node, region);
    }
  }

  // What ends a loop stays.
  void CallAtEnd(const Node& around, RegionId region) {
    const bool loops = around.op == "while";
    if ((loops && region == around.regions[0]) || ++calls_inside_ > kMostCallsInside) return;
    loops_ = loops_ || loops || around.op == "for";
    Builder b(&graph_, region, &Ops());
    Builder deeper = b.In(b.NewRegion()), ends = b.In(b.NewRegion());
    deeper.Yield(Call(deeper));
    std::vector<ValueId> ones;
    for (ValueId output : outputs_) {
      const TensorType type = graph_.type(output);
      ones.push_back(Full(ends, type.dtype, type.shape.dims(), 1));
    }
    ends.Yield(std::move(ones));
    const std::vector<ValueId> made =
        b.ApplyAll("if", {goes_on_}, {}, {deeper.region(), ends.region()});
    std::vector<ValueId>& results = graph_.region(region).results;
    for (size_t k = loops ? 1 : 0; k < results.size(); ++k) {
      for (ValueId value : made) {
        if (graph_.type(value) == graph_.type(results[k]) && Chance(50)) results[k] = value;
      }
    }
  }

  // With the parameters as they are, or others of their types.
  std::vector<ValueId> Call(Builder& b) {
    std::vector<ValueId> operands = {below_};
    for (ValueId param : params_) {
      std::vector<ValueId> fitting = {param};
      for (ValueId other : params_) {
        if (graph_.type(other) == graph_.type(param)) fitting.push_back(other);
      }
      operands.push_back(fitting[Chance(50) ? 0 : random_() % fitting.size()]);
    }
    return b.ApplyAll("call", std::move(operands), {{"callee", kName}});
  }

  // --- Its first call, in the place of the node.

  void MakeCall() {
    const RegionId region = graph_.node(node_).parent;
    std::vector<NodeId> behind;
    std::vector<NodeId>& nodes = graph_.region(region).nodes;
    const auto place = std::find(nodes.begin(), nodes.end(), node_);
    behind.assign(place + 1, nodes.end());
    nodes.erase(place, nodes.end());
    Builder b(&graph_, region, &Ops());
    const NodeId pfor = graph_.region(entry_).nodes.back();
    const int64_t most = loops_ ? 1 : 2;  // each trip calls
    const ValueId iteration = graph_.region(graph_.node(pfor).regions[0]).args[0];
    std::vector<ValueId> operands = {
        Chance(30) ? b.Scalar<int64_t>(most)
                   : b.Apply("floor_mod", {iteration, b.Scalar<int64_t>(most + 1)})};
    operands.insert(operands.end(), inputs_.begin(), inputs_.end());
    const std::vector<ValueId> made = b.ApplyAll("call", std::move(operands), {{"callee", kName}});
    const std::vector<ValueId> old = graph_.node(node_).outputs;
    for (size_t i = 0; i < made.size(); ++i) graph_.ReplaceUses(old[i], made[i]);
    std::vector<NodeId>& list = graph_.region(region).nodes;
    list.insert(list.end(), behind.begin(), behind.end());
  }

  Graph& graph_;
  std::mt19937_64 random_;
  const RegionId entry_;
  NodeId node_;
  std::vector<ValueId> inputs_;   // of the node and of what is inside
  std::vector<ValueId> params_;   // of the function, for these
  std::vector<ValueId> outputs_;  // of the node in the function
  int calls_inside_ = 0;
  bool loops_ = false;  // around calls
  ValueId goes_on_;
  ValueId below_;
};

}  // namespace

bool OutlineRecursively(RandomProgram* program) { return Outline(program).Run(); }

}  // namespace weir
