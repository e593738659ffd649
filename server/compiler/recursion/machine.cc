#include "server/compiler/recursion/machine.h"

#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

TensorType Int() { return {DType::kI64, Shape()}; }
TensorType Bool() { return {DType::kBool, Shape()}; }

TensorType WithRows(int64_t rows, const TensorType& row) {
  std::vector<Dim> dims = {rows};
  dims.insert(dims.end(), row.shape.dims().begin(), row.shape.dims().end());
  return {row.dtype, Shape(std::move(dims))};
}

int64_t NumElements(const TensorType& type) {
  int64_t count = 1;
  for (int64_t extent : type.shape.extents()) count *= extent;
  return count;
}

// `stack` with `row` in place `index`; with nothing if there is no such place.
ValueId PutRow(Builder& b, ValueId stack, ValueId index, ValueId row) {
  Int64s window;
  for (int axis = 0; axis < b.type(row).rank(); ++axis) window.push_back(axis);
  return b.Apply("scatter", {stack, index, row},
                 {{"update_window_dims", window},
                  {"inserted_window_dims", Int64s{0}},
                  {"input_batching_dims", Int64s{}},
                  {"scatter_indices_batching_dims", Int64s{}},
                  {"scatter_dims_to_operand_dims", Int64s{0}},
                  {"index_vector_dim", 0},
                  {"combiner", "set"},
                  {"unique_indices", true}});
}

// In what the graph does not know of yet.
void ReplaceUses(const ValueMap& replacements, BlockTree* tree) {
  const auto replace = [&](ValueId* value) {
    const auto it = replacements.find(*value);
    if (it != replacements.end()) *value = it->second;
  };
  replace(&tree->selector);
  for (auto& [slot, value] : tree->leaves) replace(&value);
  for (const auto& way : tree->ways) ReplaceUses(replacements, way.get());
}

}  // namespace

Machine::Machine(Graph* graph, RegionId outside, int64_t max_depth)
    : graph_(graph),
      outside_(graph, outside, &Ops()),
      body_(outside_.In(graph->AddRegion())),
      placeholders_(graph->AddRegion()),
      max_depth_(max_depth) {
  AddSlot(Bool(), "running");
  AddSlot(Int(), "block");
  AddSlot(Int(), "return_to");
  AddSlot(Int(), "top");
  slots_.push_back({Int()});  // kWrite is no state
  true_ = outside_.Constant(Tensor::Scalar(true));
}

int Machine::AddSlot(TensorType type, const std::string& name) {
  const ValueId arg = body_.AddArg(type, name);
  slots_.push_back({std::move(type), arg, /*is_field=*/false, num_carried_++});
  return static_cast<int>(slots_.size()) - 1;
}

int Machine::AddField(TensorType type) {
  const ValueId placeholder = graph_->AddArg(placeholders_, type);
  slots_.push_back({std::move(type), placeholder, /*is_field=*/true});
  return static_cast<int>(slots_.size()) - 1;
}

ValueId Machine::True() { return true_; }

ValueId Machine::Constant(int64_t value) {
  ValueId& made = constants_[value];
  if (!made.valid()) made = outside_.Scalar<int64_t>(value);
  return made;
}

ValueId Machine::Zeros(const TensorType& type) {
  ValueId& made = zeros_[type.ToString()];
  if (!made.valid()) made = Full(outside_, type.dtype, type.shape.dims(), 0);
  return made;
}

std::vector<int> Machine::Registers(const std::vector<TensorType>& types) {
  return Take(types, &registers_, &Machine::AddRegister);
}

std::vector<int> Machine::Fields(const std::vector<TensorType>& types) {
  return Take(types, &fields_, &Machine::AddField);
}

std::vector<int> Machine::Take(const std::vector<TensorType>& types,
                               std::map<std::string, std::vector<int>>* known,
                               int (Machine::*add)(TensorType)) {
  std::map<std::string, size_t> taken;
  std::vector<int> slots;
  for (const TensorType& type : types) {
    std::vector<int>& of_type = (*known)[type.ToString()];
    const size_t place = taken[type.ToString()]++;
    if (place == of_type.size()) of_type.push_back((this->*add)(type));
    slots.push_back(of_type[place]);
  }
  return slots;
}

// Fields of one element type whose sizes are numbers share a stack: one read and one write.
void Machine::PlanStacks() {
  std::map<DType, std::vector<int>> shared;
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (!slots_[s].is_field) continue;
    if (slots_[s].type.shape.is_static()) {
      shared[slots_[s].type.dtype].push_back(static_cast<int>(s));
    } else {
      stacks_.push_back({slots_[s].type, {static_cast<int>(s)}});
    }
  }
  for (auto& [dtype, fields] : shared) {
    if (fields.size() == 1) {
      stacks_.push_back({slots_[fields[0]].type, fields});
      continue;
    }
    int64_t width = 0;
    for (int field : fields) width += NumElements(slots_[field].type);
    stacks_.push_back({{dtype, Shape({width})}, fields});
  }
  for (Stack& stack : stacks_) stack.arg = body_.AddArg(WithRows(max_depth_, stack.row), "stack");
}

// The field placeholders become parts of the top frame.
ValueMap Machine::ReadFrame(Builder& b) {
  ValueMap fields;
  for (const Stack& stack : stacks_) {
    const ValueId row = TakeRow(b, stack.arg, slots_[kTop].value);
    int64_t at = 0;
    for (int field : stack.fields) {
      SlotInfo& slot = slots_[field];
      ValueId part = row;
      if (stack.fields.size() > 1) {
        const int64_t end = at + NumElements(slot.type);
        part = Reshape(b, Slice(b, row, 0, at, end), slot.type.shape.dims());
        at = end;
      }
      fields.emplace(slot.value, part);
      slot.value = part;
    }
  }
  graph_->ReplaceUses(fields);
  return fields;
}

ValueId Machine::WriteFrame(Builder& b, const Stack& stack,
                            const std::vector<ValueId>& outputs) const {
  ValueId row = outputs[stack.fields[0]];
  if (stack.fields.size() > 1) {
    std::vector<ValueId> parts;
    for (int field : stack.fields) {
      parts.push_back(Reshape(b, outputs[field], {NumElements(slots_[field].type)}));
    }
    row = Concatenate(b, std::move(parts), 0);
  }
  return PutRow(b, stack.arg, outputs[kWrite], row);
}

// Ends the regions of a block, innermost first: each yields all slots.
void Machine::Close(const BlockTree& tree) {
  Builder b = outside_.In(tree.region);
  b.SetLocation(tree.location);
  if (!tree.choice.empty()) {
    std::vector<RegionId> regions;
    for (const auto& way : tree.ways) {
      Close(*way);
      regions.push_back(way->region);
    }
    b.SetLocation(tree.location);
    b.Yield(b.ApplyAll(tree.choice, {tree.selector}, {}, std::move(regions)));
    return;
  }
  std::vector<ValueId> values(slots_.size());
  for (const auto& [slot, value] : tree.leaves) values[slot] = value;
  for (size_t s = 0; s < values.size(); ++s) {
    if (values[s].valid()) continue;
    values[s] = s == kWrite ? Constant(-1) : Zeros(slots_[s].type);
  }
  b.Yield(std::move(values));
}

std::vector<ValueId> Machine::Finish(std::vector<std::unique_ptr<BlockTree>> blocks,
                                     const std::vector<std::pair<int, ValueId>>& start,
                                     const std::vector<int>& results, const std::string& text) {
  PlanStacks();
  const ValueMap fields = ReadFrame(body_);
  for (const auto& block : blocks) ReplaceUses(fields, block.get());
  const Ways ways = FindWays(blocks, slots_[kCounter].value, body_);
  std::vector<RegionId> regions;
  for (const BlockTree* way : ways.trees) {
    Close(*way);
    regions.push_back(way->region);
  }
  const std::vector<ValueId> outputs =
      body_.ApplyAll("case", {ways.number}, {}, std::move(regions));
  if (!outside_.ok()) return {};

  std::vector<ValueId> operands(num_carried_), next(num_carried_);
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].carried < 0) continue;
    operands[slots_[s].carried] = Zeros(slots_[s].type);
    next[slots_[s].carried] = outputs[s];
  }
  for (const auto& [slot, value] : start) operands[slots_[slot].carried] = value;
  for (const Stack& stack : stacks_) {
    operands.push_back(Zeros(WithRows(max_depth_, stack.row)));
    next.push_back(WriteFrame(body_, stack, outputs));
  }
  body_.Yield(std::move(next));
  Builder condition = NewBlock();
  std::vector<ValueId> args;
  for (ValueId operand : operands) args.push_back(condition.AddArg(outside_.type(operand)));
  condition.Yield({args[slots_[kRunning].carried]});
  const std::vector<ValueId> last =
      outside_.ApplyAll("while", std::move(operands), {}, {condition.region(), body_.region()});
  if (!outside_.ok()) return {};
  const ValueId top = last[slots_[kTop].carried];
  outside_.ApplyAll("check", {outside_.Apply("less", {top, Constant(max_depth_)})},
                    {{"message", text}});
  std::vector<ValueId> out;
  for (int slot : results) out.push_back(last[slots_[slot].carried]);
  return out;
}

}  // namespace weir
