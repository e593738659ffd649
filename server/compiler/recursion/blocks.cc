#include "server/compiler/recursion/blocks.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

// Branches that follow each other lie inside each other in a block, up to this depth.
constexpr int kMaxWays = 8;

TensorType Word() { return {DType::kI64, Shape()}; }

// Scalars lie in frames as words, so that those of all types share one stack.
bool IsWord(const TensorType& type) { return type.rank() == 0 && !IsComplex(type.dtype); }

// The integer type of as many bits, for types that a conversion would round or wrap.
DType BitsOf(DType dtype) {
  if (!IsFloat(dtype) && dtype != DType::kU64) return dtype;
  return SizeOf(dtype) == 2 ? DType::kI16 : SizeOf(dtype) == 4 ? DType::kI32 : DType::kI64;
}

ValueId Bitcast(Builder& b, ValueId x, DType dtype) {
  return b.type(x).dtype == dtype ? x : b.Apply("bitcast_convert", {x}, {{"dtype", dtype}});
}

ValueId ToWord(Builder& b, ValueId x) {
  return Cast(b, Bitcast(b, x, BitsOf(b.type(x).dtype)), DType::kI64);
}

ValueId FromWord(Builder& b, ValueId word, DType dtype) {
  return Bitcast(b, Cast(b, word, BitsOf(dtype)), dtype);
}

}  // namespace

Blocks::Blocks(Graph* graph, const Members& members, const std::vector<ValueId>& arguments,
               Machine* machine)
    : graph_(graph), members_(members), machine_(machine) {
  for (ValueId argument : arguments) graph_->type(argument).shape.CollectSymbols(&symbols_);
  const std::vector<ValueId>& root = graph_->region(members_.all().front().body).args;
  for (size_t i = 0; i < root.size(); ++i) arguments_.emplace(root[i], arguments[i]);
  for (const Members::Member& member : members_.all()) {
    const std::vector<ValueId>& params = graph_->region(member.body).args;
    for (size_t i = 0; i < params.size(); ++i) {
      if (member.same_as[i] >= 0) outside_.emplace(params[i], arguments[member.same_as[i]]);
    }
  }
}

absl::StatusOr<std::vector<ValueId>> Blocks::Lower(const std::string& too_deep) {
  for (const Members::Member& member : members_.all()) Hoist(member.body);
  Number(Kind::kEntry, 0, NodeId());
  for (size_t i = 0; i < blocks_.size() && machine_->outside().ok(); ++i) {
    Emit(static_cast<int>(i));
  }
  WEIR_RETURN_IF_ERROR(machine_->outside().status());

  std::vector<std::pair<int, ValueId>> start = {
      {Machine::kRunning, machine_->True()},
      {Machine::kCounter, machine_->Constant(0)},
      {Machine::kReturn, machine_->Constant(-1)},
      {Machine::kTop, machine_->Constant(-1)},
  };
  const std::vector<int> slots = machine_->Registers(Types(blocks_[0].registers));
  for (size_t i = 0; i < slots.size(); ++i) {
    start.push_back({slots[i], arguments_.at(blocks_[0].registers[i])});
  }
  const std::vector<int> results =
      machine_->Registers(Types(graph_->region(members_.all().front().body).results));
  std::vector<ValueId> out = machine_->Finish(std::move(trees_), start, results, too_deep);
  WEIR_RETURN_IF_ERROR(machine_->outside().status());
  return out;
}

std::vector<TensorType> Blocks::Types(const std::vector<ValueId>& values) {
  std::vector<TensorType> types;
  for (ValueId value : values) {
    types.push_back(graph_->type(value));
    std::set<std::string, std::less<>> used;
    types.back().shape.CollectSymbols(&used);
    const std::vector<Dim>& dims = types.back().shape.dims();
    const bool known =
        std::none_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_unknown(); }) &&
        std::includes(symbols_.begin(), symbols_.end(), used.begin(), used.end());
    if (known) continue;
    const Value& held = graph_->value(value);
    const std::string made =
        held.producer.valid() ? StrCat(" made by ", graph_->Describe(held.producer)) : "";
    machine_->outside().Fail(absl::UnimplementedError(
        StrCat("the value %", held.name, made, ", ", types.back().ToString(),
               ", is needed behind a recursive call, but its size is known only from data")));
  }
  return types;
}

// What depends on constants and on what calls hand on as it is, is made once in front of the loop.
void Blocks::Hoist(RegionId region) {
  const std::vector<NodeId> nodes = graph_->region(region).nodes;
  for (NodeId id : nodes) {
    if (MayHoist(id)) {
      absl::flat_hash_map<NodeId, NodeId> copies;
      CloneNode(*graph_, id, graph_, machine_->outside().region(), &outside_, &copies);
      hoisted_.insert(id);
    } else if (members_.Splits(id)) {
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) Hoist(r);
    }
  }
}

bool Blocks::MayHoist(NodeId id) const {
  const Node& node = graph_->node(id);
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || op->effect != Effect::kPure || !node.regions.empty() || node.op == "call" ||
      !node.control_inputs.empty()) {
    return false;
  }
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return outside_.contains(input); });
}

ValueId Blocks::Image(const Path& path, ValueId value) const { return path.values.at(value); }

std::vector<ValueId> Blocks::Held(const Path& path, const std::vector<ValueId>& values) const {
  std::vector<ValueId> held;
  for (ValueId value : values) {
    if (path.values.contains(value) && !outside_.contains(value)) held.push_back(value);
  }
  return held;
}

// --- Blocks.

int Blocks::Number(Kind kind, int member, NodeId node) {
  const auto [it, added] =
      numbers_.try_emplace({kind, member, node}, static_cast<int>(blocks_.size()));
  if (!added) return it->second;
  Block block{kind, member, node};
  if (kind == Kind::kEntry) {
    const std::vector<ValueId>& params = graph_->region(members_.all()[member].body).args;
    for (ValueId param : params) {
      if (!outside_.contains(param)) block.registers.push_back(param);
    }
  }
  blocks_.push_back(std::move(block));
  return it->second;
}

void Blocks::Emit(int number) {
  const Block block = blocks_[number];
  trees_.push_back(std::make_unique<BlockTree>());
  Path path{.tree = trees_.back().get(), .values = outside_};
  path.tree->region = machine_->NewBlock().region();
  path.return_to = machine_->Read(Machine::kReturn);
  path.top = machine_->Read(Machine::kTop);
  Bind(block.registers, machine_->Registers(Types(block.registers)), &path);
  switch (block.kind) {
    case Kind::kEntry:
      return Walk(members_.all()[block.member].body, 0, std::move(path));
    case Kind::kBehindCall: {
      ReadFrame(block, &path);
      path.top = At(path, block.node).Apply("subtract", {path.top, machine_->Constant(1)});
      break;
    }
    case Kind::kBehindBranch:
      break;
    case Kind::kLoopHead:
      return LoopHead(block, std::move(path));
  }
  const RegionId region = graph_->node(block.node).parent;
  Walk(region, members_.Position(block.node) + 1, std::move(path));
}

std::vector<int> Blocks::Fields(const std::vector<ValueId>& values) {
  std::vector<TensorType> types = {Word()};  // where to return to
  for (TensorType& type : Types(values)) types.push_back(IsWord(type) ? Word() : std::move(type));
  return machine_->Fields(types);
}

void Blocks::ReadFrame(const Block& block, Path* path) {
  const std::vector<int> fields = Fields(block.fields);
  path->return_to = machine_->Read(fields[0]);
  Builder b = At(*path, block.node);
  for (size_t i = 0; i < block.fields.size(); ++i) {
    const ValueId held = machine_->Read(fields[i + 1]);
    const TensorType type = graph_->type(block.fields[i]);
    ValueId& value = path->values[block.fields[i]];
    value = IsWord(type) ? FromWord(b, held, type.dtype) : held;
    path->words.emplace(value, held);
  }
}

void Blocks::WriteFrame(const std::vector<ValueId>& values, Builder& b, Path* path) {
  const std::vector<int> fields = Fields(values);
  path->tree->leaves.push_back({fields[0], path->return_to});
  for (size_t i = 0; i < values.size(); ++i) {
    ValueId value = Image(*path, values[i]);
    if (IsWord(graph_->type(value))) {
      const auto word = path->words.find(value);
      value = word != path->words.end() ? word->second : ToWord(b, value);
    }
    path->tree->leaves.push_back({fields[i + 1], value});
  }
}

void Blocks::Bind(const std::vector<ValueId>& values, const std::vector<int>& slots,
                  Path* path) const {
  for (size_t i = 0; i < values.size(); ++i) {
    path->values.insert_or_assign(values[i], machine_->Read(slots[i]));
  }
}

Builder Blocks::At(const Path& path, NodeId node) {
  Builder b = machine_->outside().In(path.tree->region);
  if (node.valid()) {
    path.tree->location = graph_->node(node).location;
    b.SetLocation(path.tree->location);
  }
  return b;
}

void Blocks::Leave(Path* path, Machine::Slot slot, ValueId value) const {
  path->tree->leaves.push_back({slot, value});
}

// --- Code.

void Blocks::Walk(RegionId region, size_t from, Path path) {
  const std::vector<NodeId> nodes = graph_->region(region).nodes;
  for (size_t i = from; i < nodes.size(); ++i) {
    if (!machine_->outside().ok()) return;
    const NodeId id = nodes[i];
    if (hoisted_.contains(id)) continue;
    if (members_.FindCall(id) != nullptr) return Call(id, std::move(path));
    if (!members_.Splits(id)) {
      Copy(id, &path);
      continue;
    }
    const std::string op = graph_->node(id).op;
    return op == "while" || op == "for" ? EnterLoop(id, std::move(path))
                                        : Branch(id, std::move(path));
  }
  Finish(region, std::move(path));
}

// What is inside of a node is of no use behind it.
void Blocks::Copy(NodeId id, Path* path) {
  if (graph_->node(id).regions.empty()) {
    CloneNode(*graph_, id, graph_, path->tree->region, &path->values, &path->nodes);
    return;
  }
  ValueMap inside = path->values;
  CloneNode(*graph_, id, graph_, path->tree->region, &inside, &path->nodes);
  for (ValueId output : graph_->node(id).outputs) {
    path->values.insert_or_assign(output, inside.at(output));
  }
}

// At the end of a region.
void Blocks::Finish(RegionId region, Path path) {
  std::vector<ValueId> results;
  for (ValueId result : graph_->region(region).results) results.push_back(Image(path, result));
  const NodeId around = graph_->region(region).parent;
  if (!around.valid()) return Return(results, std::move(path));
  const Node node = graph_->node(around);
  if (node.op == "if" || node.op == "case") {
    return FinishBranch(around, results, std::move(path));
  }
  if (node.op == "while" && region == node.regions[0]) {
    return TestLoop(around, results[0], std::move(path));
  }
  FinishTrip(around, results, std::move(path));
}

// Goes straight on behind the branch, except where several ways of one block meet there.
void Blocks::FinishBranch(NodeId node, const std::vector<ValueId>& results, Path path) {
  const std::vector<ValueId> outputs = graph_->node(node).outputs;
  const RegionId around = graph_->node(node).parent;
  const size_t behind = members_.Position(node) + 1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    path.values.insert_or_assign(outputs[i], results[i]);
  }
  const bool meet = members_.WaysThrough(node) > 1 || path.depth >= kMaxWays;
  if (!path.open.contains(node) || !meet || members_.IsLast(node)) {
    return Walk(around, behind, std::move(path));
  }
  const int number = Number(Kind::kBehindBranch, 0, node);
  if (blocks_[number].registers.empty()) {
    blocks_[number].registers = Held(path, members_.NeededFrom(around, behind));
  }
  std::vector<ValueId> values;
  for (ValueId value : blocks_[number].registers) values.push_back(Image(path, value));
  Jump(number, values, std::move(path));
}

void Blocks::Branch(NodeId id, Path path) {
  const Node node = graph_->node(id);
  path.open.insert(id);
  At(path, id);
  path.tree->choice = node.op;
  path.tree->selector = Image(path, node.inputs[0]);
  std::vector<Path> ways;
  for (size_t i = 0; i < node.regions.size(); ++i) ways.push_back(Way(path));
  for (size_t i = 0; i < ways.size(); ++i) Walk(node.regions[i], 0, std::move(ways[i]));
}

Blocks::Path Blocks::Way(const Path& path) {
  path.tree->ways.push_back(std::make_unique<BlockTree>());
  Path way = path;
  way.tree = path.tree->ways.back().get();
  way.tree->region = machine_->NewBlock().region();
  way.tree->location = path.tree->location;
  way.nodes.clear();
  ++way.depth;
  return way;
}

// --- Loops. Their head takes what they carry, what they collect, and what they and the code behind
// them need.

void Blocks::EnterLoop(NodeId id, Path path) {
  const Node node = graph_->node(id);
  const bool counts = node.op == "for";
  std::vector<ValueId> values;
  if (counts) values.push_back(machine_->Constant(0));
  for (size_t i = counts ? 1 : 0; i < node.inputs.size(); ++i) {
    values.push_back(Image(path, node.inputs[i]));
  }
  std::vector<ValueId> registers = graph_->region(node.regions.back()).args;
  for (size_t i = counts ? node.inputs.size() - 1 : node.inputs.size(); i < node.outputs.size();
       ++i) {
    registers.push_back(node.outputs[i]);
    Types({node.outputs[i]});
    if (machine_->outside().ok()) values.push_back(machine_->Zeros(graph_->type(node.outputs[i])));
  }
  for (ValueId value : Held(path, members_.NeededByLoop(id))) {
    registers.push_back(value);
    values.push_back(Image(path, value));
  }
  const int number = Number(Kind::kLoopHead, 0, id);
  blocks_[number].registers = std::move(registers);
  Jump(number, values, std::move(path));
}

void Blocks::LoopHead(const Block& block, Path path) {
  const Node node = graph_->node(block.node);
  const std::vector<ValueId> args = graph_->region(node.regions.back()).args;
  if (node.op == "for") {
    Builder b = At(path, block.node);
    const ValueId goes_on = b.Apply("less", {Image(path, args[0]), Image(path, node.inputs[0])});
    return TestLoop(block.node, goes_on, std::move(path));
  }
  const std::vector<ValueId> tested = graph_->region(node.regions[0]).args;
  for (size_t i = 0; i < args.size(); ++i) {
    path.values.insert_or_assign(tested[i], Image(path, args[i]));
  }
  Walk(node.regions[0], 0, std::move(path));
}

void Blocks::TestLoop(NodeId id, ValueId goes_on, Path path) {
  const Node node = graph_->node(id);
  const RegionId body = node.regions.back();
  const std::vector<ValueId> args = graph_->region(body).args;
  At(path, id);
  path.tree->choice = "if";
  path.tree->selector = goes_on;
  Path again = Way(path);
  Path behind = Way(path);
  const size_t skipped = node.op == "for" ? 1 : 0;
  for (size_t i = skipped; i < args.size(); ++i) {
    behind.values.insert_or_assign(node.outputs[i - skipped], Image(path, args[i]));
  }
  Walk(body, 0, std::move(again));
  Walk(node.parent, members_.Position(id) + 1, std::move(behind));
}

void Blocks::FinishTrip(NodeId id, const std::vector<ValueId>& results, Path path) {
  const Node node = graph_->node(id);
  const int number = numbers_.at({Kind::kLoopHead, 0, id});
  std::vector<ValueId> values;
  size_t carried = node.inputs.size();
  Builder b = At(path, id);
  if (node.op == "for") {
    const ValueId index = Image(path, graph_->region(node.regions[0]).args[0]);
    values.push_back(b.Apply("add", {index, machine_->Constant(1)}));
    --carried;
    for (size_t i = carried; i < results.size(); ++i) {
      const ValueId row = ExpandDims(b, results[i], {0});
      std::vector<ValueId> operands = {Image(path, node.outputs[i]), row, index};
      operands.resize(static_cast<size_t>(b.type(row).rank()) + 2, machine_->Constant(0));
      const ValueId collected = b.Apply("dynamic_update_slice", std::move(operands));
      path.values.insert_or_assign(node.outputs[i], collected);
    }
  }
  values.insert(values.end(), results.begin(), results.begin() + static_cast<int64_t>(carried));
  const std::vector<ValueId>& registers = blocks_[number].registers;
  for (size_t i = values.size(); i < registers.size(); ++i) {
    values.push_back(Image(path, registers[i]));
  }
  Jump(number, values, std::move(path));
}

// --- Ends of blocks.

void Blocks::Jump(int number, const std::vector<ValueId>& values, Path path) {
  Leave(&path, Machine::kRunning, machine_->True());
  Leave(&path, Machine::kCounter, machine_->Constant(number));
  Leave(&path, Machine::kReturn, path.return_to);
  Leave(&path, Machine::kTop, path.top);
  const std::vector<int> slots = machine_->Registers(Types(blocks_[number].registers));
  for (size_t i = 0; i < slots.size(); ++i) path.tree->leaves.push_back({slots[i], values[i]});
}

void Blocks::Return(const std::vector<ValueId>& results, Path path) {
  Builder b = At(path, NodeId());
  Leave(&path, Machine::kRunning,
        b.Apply("greater_equal", {path.return_to, machine_->Constant(0)}));
  Leave(&path, Machine::kCounter, path.return_to);
  Leave(&path, Machine::kTop, path.top);
  std::vector<TensorType> types;
  for (ValueId result : results) types.push_back(graph_->type(result));
  const std::vector<int> slots = machine_->Registers(types);
  for (size_t i = 0; i < slots.size(); ++i) path.tree->leaves.push_back({slots[i], results[i]});
}

void Blocks::Call(NodeId id, Path path) {
  const Members::Call& call = *members_.FindCall(id);
  const Node node = graph_->node(id);
  const int entry = Number(Kind::kEntry, call.callee, NodeId());
  Builder b = At(path, id);
  Leave(&path, Machine::kCounter, machine_->Constant(entry));
  const std::vector<ValueId> params = graph_->region(members_.all()[call.callee].body).args;
  const std::vector<int> slots = machine_->Registers(Types(blocks_[entry].registers));
  for (size_t i = 0, r = 0; i < params.size(); ++i) {
    if (outside_.contains(params[i])) continue;
    path.tree->leaves.push_back({slots[r++], Image(path, node.inputs[i])});
  }
  if (call.is_tail) {
    Leave(&path, Machine::kRunning, machine_->True());
    Leave(&path, Machine::kReturn, path.return_to);
    Leave(&path, Machine::kTop, path.top);
    return;
  }
  const int behind = Number(Kind::kBehindCall, 0, id);
  const std::vector<ValueId> needed =
      Held(path, members_.NeededFrom(node.parent, members_.Position(id) + 1));
  blocks_[behind].registers = node.outputs;
  blocks_[behind].fields = needed;
  const ValueId top = b.Apply("add", {path.top, machine_->Constant(1)});
  Leave(&path, Machine::kRunning,
        b.Apply("less", {top, machine_->Constant(machine_->max_depth())}));
  Leave(&path, Machine::kReturn, machine_->Constant(behind));
  Leave(&path, Machine::kTop, top);
  Leave(&path, Machine::kWrite, top);
  WriteFrame(needed, b, &path);
}

}  // namespace weir
