#include "worker/device/cpu/fused.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ops/registry.h"
#include "worker/device/cpu/groups.h"
#include "worker/device/cpu/tile_space.h"

namespace weir::cpu {
namespace {

constexpr int kMaxArity = 4;
constexpr int kMaxOperands = kMaxGroupOperands + kMaxArity;
constexpr int kMaxValues = kMaxOperands + kMaxGroupNodes;
constexpr int64_t kMaxTile = 1024;
constexpr int64_t kMinTile = 128;
// Registers should leave room in the L1 cache for what is used in place.
constexpr int64_t kRegisterBytes = 24 << 10;

// Values of the program are numbered: operands first, then one for each instruction.
struct Instruction {
  TileFn run = nullptr;
  int arity = 0;
  int operands[kMaxArity] = {};
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<int> registers;  // by value
  std::vector<int> result_values;
  int num_registers = 0;
  int64_t element_bytes = 1;  // of the widest value
  int last_operand_read = 0;  // instruction
};

// Gives registers to values. Operands keep theirs, as one load may serve many tiles; so do results,
// which are written to memory at the end of a tile.
void AssignRegisters(int num_operands, Program* program) {
  const int num_instructions = static_cast<int>(program->instructions.size());
  std::vector<int> last_use(num_operands + num_instructions, -1);
  for (int i = 0; i < num_instructions; ++i) {
    const Instruction& instruction = program->instructions[i];
    for (int o = 0; o < instruction.arity; ++o) {
      last_use[instruction.operands[o]] = i;
      if (instruction.operands[o] < num_operands) program->last_operand_read = i;
    }
  }
  std::vector<bool> kept(last_use.size(), false);
  for (int value : program->result_values) kept[value] = true;
  program->registers.resize(last_use.size());
  for (int o = 0; o < num_operands; ++o) program->registers[o] = program->num_registers++;
  std::vector<int> free;
  for (int i = 0; i < num_instructions; ++i) {
    if (free.empty()) free.push_back(program->num_registers++);
    program->registers[num_operands + i] = free.back();
    free.pop_back();
    // Freed only after the instruction: loops may not write where they still read.
    for (int value = num_operands; value <= num_operands + i; ++value) {
      if (last_use[value] == i && !kept[value]) free.push_back(program->registers[value]);
    }
  }
}

class FusedKernel final : public Kernel {
 public:
  FusedKernel(std::string name, Program program, int num_operands)
      : name_(std::move(name)), program_(std::move(program)), num_operands_(num_operands) {
    const int64_t fits =
        kRegisterBytes / (program_.element_bytes * std::max(1, program_.num_registers));
    tile_ = std::clamp(fits / 64 * 64, kMinTile, kMaxTile);
  }

  std::string_view name() const override { return name_; }

  size_t ScratchBytes(absl::Span<const View>, absl::Span<const View> results) const override {
    return program_.num_registers * RegisterBytes(results);
  }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View> results,
                        int index) const override {
    const View* best = nullptr;
    int64_t most = 0;
    for (const View& view : operands) {
      int64_t elements = 1;
      for (int axis = 0; axis < view.rank(); ++axis) {
        if (view.strides[axis] != 0) elements *= view.extents[axis];
      }
      if (elements > most) std::tie(best, most) = std::pair(&view, elements);
    }
    return best == nullptr ? RowMajorOrder(results[index].rank()) : OrderOf(*best);
  }

  absl::Status Run(const KernelCall& call) const override {
    absl::InlinedVector<const View*, 24> views;
    for (const View& view : call.operands) views.push_back(&view);
    for (const View& view : call.results) views.push_back(&view);
    // A result may lie on an operand that a later instruction still reads.
    bool staged = false;
    for (size_t r = 0; r < call.results.size(); ++r) {
      if (program_.result_values[r] - num_operands_ >= program_.last_operand_read) continue;
      for (const View& operand : call.operands) staged |= operand.data == call.results[r].data;
    }
    const int64_t register_bytes = RegisterBytes(call.results);
    Loaded loaded[kMaxOperands];
    TileSpace space(views, num_operands_, tile_);
    for (; !space.done(); space.Next()) {
      RunTile(call, space, register_bytes, staged, loaded);
    }
    return absl::OkStatus();
  }

 private:
  // What an operand's register holds.
  struct Loaded {
    const std::byte* from = nullptr;
    TileShape shape;
  };

  int64_t RegisterBytes(absl::Span<const View> results) const {
    const int64_t elements = std::min(tile_, NumElements(results[0].extents));
    return (elements * program_.element_bytes + 63) / 64 * 64;
  }

  void RunTile(const KernelCall& call, const TileSpace& space, int64_t register_bytes, bool staged,
               Loaded* loaded) const {
    void* at[kMaxValues];
    const TileShape& shape = space.shape();
    const int num_values = static_cast<int>(program_.registers.size());
    for (int value = 0; value < num_values; ++value) {
      at[value] = call.scratch.data() + program_.registers[value] * register_bytes;
    }
    for (int o = 0; o < num_operands_; ++o) {
      const TilePlace place = space.place(o);
      const int64_t bytes = SizeOf(call.operands[o].dtype);
      if (IsDense(place, shape, bytes)) {
        at[o] = place.data;
      } else if (loaded[o].from != place.data || loaded[o].shape != shape) {
        GatherTile(place, shape, bytes, at[o]);
        loaded[o] = {place.data, shape};
      }
    }
    for (size_t r = 0; r < call.results.size() && !staged; ++r) {
      const TilePlace place = space.place(num_operands_ + static_cast<int>(r));
      if (IsDense(place, shape, SizeOf(call.results[r].dtype))) {
        at[program_.result_values[r]] = place.data;
      }
    }
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      const void* operands[kMaxArity];
      for (int o = 0; o < instruction.arity; ++o) operands[o] = at[instruction.operands[o]];
      instruction.run(operands, at[num_operands_ + i], shape.elements());
    }
    for (size_t r = 0; r < call.results.size(); ++r) {
      const TilePlace place = space.place(num_operands_ + static_cast<int>(r));
      const void* from = at[program_.result_values[r]];
      if (from == place.data) continue;
      ScatterTile(from, shape, SizeOf(call.results[r].dtype), place);
    }
  }

  std::string name_;
  Program program_;
  int num_operands_;
  int64_t tile_ = 0;
};

// Returns: the node's instruction, or an error that says what it lacks.
absl::StatusOr<Instruction> Compile(const KernelRequest& request, NodeId id,
                                    const absl::flat_hash_map<ValueId, int>& numbers) {
  const Graph& graph = *request.graph;
  const Node& node = graph.node(id);
  const OpDef* op = FindOp(node.op);
  if (op == nullptr || !op->elementwise.has_value()) {
    return absl::UnimplementedError(StrCat(node.op, " is not element-wise"));
  }
  if (node.inputs.size() > kMaxArity) {
    return absl::UnimplementedError(StrCat(node.op, " has more than ", kMaxArity, " operands"));
  }
  Instruction instruction;
  instruction.arity = static_cast<int>(node.inputs.size());
  std::vector<DType> dtypes;
  for (int i = 0; i < instruction.arity; ++i) {
    dtypes.push_back(graph.type(node.inputs[i]).dtype);
    instruction.operands[i] = numbers.at(node.inputs[i]);
  }
  const DType result = graph.type(node.outputs[0]).dtype;
  instruction.run = op->elementwise->find(node, dtypes, result, request.isa);
  if (instruction.run == nullptr) {
    return absl::UnimplementedError(
        StrCat(node.op, " has no loop for these types on ", IsaName(request.isa)));
  }
  return instruction;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeFused(const KernelRequest& request) {
  const Graph& graph = *request.graph;
  if (request.operands.empty() || request.operands.size() > kMaxOperands ||
      request.nodes.size() > kMaxGroupNodes) {
    return absl::UnimplementedError("too many nodes or values in one group, or no operand");
  }
  absl::flat_hash_map<ValueId, int> numbers;
  Program program;
  auto widen = [&](ValueId value) {
    program.element_bytes =
        std::max<int64_t>(program.element_bytes, SizeOf(graph.type(value).dtype));
  };
  for (ValueId value : request.operands) {
    const int number = static_cast<int>(numbers.size());
    numbers.emplace(value, number);
    widen(value);
  }
  std::string name = "fused(";
  for (NodeId id : request.nodes) {
    WEIR_ASSIGN_OR_RETURN(Instruction instruction, Compile(request, id, numbers));
    program.instructions.push_back(instruction);
    const ValueId made = graph.node(id).outputs[0];
    numbers.emplace(made, static_cast<int>(numbers.size()));
    widen(made);
    StrAppend(&name, name.back() == '(' ? "" : ",", graph.node(id).op);
  }
  name += ")";
  for (ValueId value : request.results) program.result_values.push_back(numbers.at(value));
  const int num_operands = static_cast<int>(request.operands.size());
  AssignRegisters(num_operands, &program);
  return std::unique_ptr<Kernel>(
      new FusedKernel(std::move(name), std::move(program), num_operands));
}

}  // namespace weir::cpu
