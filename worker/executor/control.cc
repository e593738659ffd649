#include "worker/executor/control.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/copy.h"
#include "worker/executor/control_step.h"
#include "worker/executor/ragged_step.h"
#include "worker/executor/rows_step.h"

namespace weir {
namespace {

using Step = RegionPlan::Step;
using State = Activation::StepState;
using Preparation = ControlPreparation;
using Running = ControlRun;

// Regions that never run at the same time share their arena.
void TakeShared(State* state, ScratchPlan* scratch) {
  int64_t most = 0;
  for (const std::unique_ptr<Activation>& region : state->regions) {
    state->region_offsets.push_back(scratch->end());
    most = std::max(most, region->arena_bytes());
  }
  scratch->Take(most);
}

absl::Status AddRegion(const Step& step, int region, const SymbolBindings& symbols,
                       std::vector<Layout> externals, const std::vector<Layout>& captures,
                       State* state) {
  externals.insert(externals.end(), captures.begin(), captures.end());
  state->externals.resize(std::max(state->externals.size(), externals.size()));
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Activation> activation,
                        Activation::Create(*step.regions[region], symbols, std::move(externals)));
  state->regions.push_back(std::move(activation));
  const size_t results = step.regions[region]->results().size();
  state->region_results.resize(std::max(state->region_results.size(), results));
  return absl::OkStatus();
}

const Layout kIndexLayout = {DType::kI64, {}, {}};

// --- preparing

absl::StatusOr<int64_t> PrepareBranches(const Preparation& p) {
  for (size_t i = 0; i < p.step.regions.size(); ++i) {
    WEIR_RETURN_IF_ERROR(
        AddRegion(p.step, static_cast<int>(i), p.symbols, {}, p.captures[i], p.state));
  }
  ScratchPlan scratch;
  TakeShared(p.state, &scratch);
  return scratch.end();
}

absl::StatusOr<int64_t> PrepareFor(const Preparation& p) {
  std::vector<Layout> externals = {kIndexLayout};
  ScratchPlan scratch;
  scratch.Take(sizeof(int64_t));
  for (size_t k = 1; k < p.operands.size(); ++k) {
    externals.push_back(Dense(p.operands[k]));
    p.state->carried_offsets.push_back(scratch.Take(p.operands[k].bytes()));
  }
  WEIR_RETURN_IF_ERROR(
      AddRegion(p.step, 0, p.symbols, std::move(externals), p.captures[0], p.state));
  TakeShared(p.state, &scratch);
  return scratch.end();
}

absl::StatusOr<int64_t> PrepareWhile(const Preparation& p) {
  std::vector<Layout> externals;
  ScratchPlan scratch;
  scratch.Take(sizeof(bool));
  for (const Layout& operand : p.operands) {
    externals.push_back(Dense(operand));
    p.state->carried_offsets.push_back(scratch.Take(operand.bytes()));
    p.state->carried_offsets.push_back(scratch.Take(operand.bytes()));
  }
  for (int i = 0; i < 2; ++i) {
    WEIR_RETURN_IF_ERROR(AddRegion(p.step, i, p.symbols, externals, p.captures[i], p.state));
  }
  TakeShared(p.state, &scratch);
  return scratch.end();
}

absl::StatusOr<int64_t> PrepareShard(const Preparation& p) {
  SymbolBindings symbols = p.symbols;
  WEIR_ASSIGN_OR_RETURN(const int64_t extent, p.node.attr("extent").AsDims()[0].Evaluate(symbols));
  symbols.insert_or_assign(p.node.attr("local").AsString(), extent);
  std::vector<Layout> externals = {kIndexLayout};
  externals.insert(externals.end(), p.operands.begin(), p.operands.end());
  ScratchPlan scratch;
  scratch.Take(sizeof(int64_t));
  WEIR_RETURN_IF_ERROR(AddRegion(p.step, 0, symbols, std::move(externals), p.captures[0], p.state));
  TakeShared(p.state, &scratch);
  return scratch.end();
}

absl::StatusOr<int64_t> PrepareCall(const Preparation& p) {
  p.state->region_results.resize(p.step.results.size());
  return 0;
}

// --- running

int64_t ReadIndex(const cpu::View& view) {
  return VisitDType(view.dtype, [&]<class T>(TypeTag<T>) -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(*view.as<T>());
    } else {
      return 0;
    }
  });
}

absl::Status RunBranch(const Running& r, int branch) {
  for (size_t i = 0; i < r.step.results.size(); ++i) r.state->region_results[i] = r.result(i);
  return r.RunRegion(branch, 0);
}

absl::Status RunIf(const Running& r) {
  return RunBranch(r, *r.state->operands[0].as<bool>() ? 0 : 1);
}

absl::Status RunCase(const Running& r) {
  const int64_t last = static_cast<int64_t>(r.step.regions.size()) - 1;
  const int64_t index = ReadIndex(r.state->operands[0]);
  return RunBranch(r, static_cast<int>(index < 0 || index > last ? last : index));
}

absl::Status RunFor(const Running& r) {
  State& state = *r.state;
  const int64_t trips = std::max<int64_t>(0, ReadIndex(state.operands[0]));
  const size_t carried = state.operands.size() - 1;
  for (size_t i = carried; i < state.results.size(); ++i) {
    if (state.results[i].extents[0] != trips) {
      return InvalidArgument("the loop runs ", trips, " times, but its extent says ",
                             state.results[i].extents[0]);
    }
  }
  // Values alternate between the result's memory and spare memory, so that the last trip ends in
  // the result. One that each trip only updates stays there.
  const RegionPlan& body = *r.step.regions[0];
  auto target = [&](size_t k, int64_t trip) {
    const bool stays = body.updated_arg(static_cast<int>(k)) == static_cast<int>(k) + 1;
    return stays || (trips - 1 - trip) % 2 == 0 ? r.result(static_cast<int>(k))
                                                : r.scratch() + state.carried_offsets[k];
  };
  int64_t* index = reinterpret_cast<int64_t*>(r.scratch());
  state.externals[0] = r.scratch();
  for (size_t k = 0; k < carried; ++k) {
    const int operand = static_cast<int>(k) + 1;
    if (trips > 0 && r.IsDense(operand)) {
      state.externals[k + 1] = static_cast<std::byte*>(state.operands[operand].data);
      continue;
    }
    state.externals[k + 1] = target(k, -1);
    r.CopyOperand(operand, state.externals[k + 1]);
  }
  for (int64_t trip = 0; trip < trips; ++trip) {
    *index = trip;
    for (size_t k = 0; k < carried; ++k) state.region_results[k] = target(k, trip);
    for (size_t i = carried; i < state.results.size(); ++i) {
      const int64_t row = state.regions[0]->result_layout(static_cast<int>(i)).bytes();
      state.region_results[i] = r.result(static_cast<int>(i)) + trip * row;
    }
    WEIR_RETURN_IF_ERROR(r.RunRegion(0, carried + 1));
    for (size_t k = 0; k < carried; ++k) state.externals[k + 1] = state.region_results[k];
  }
  return absl::OkStatus();
}

absl::Status RunWhile(const Running& r) {
  State& state = *r.state;
  const size_t carried = state.operands.size();
  std::byte* go_on = r.scratch();
  // A value that each trip only updates stays where the first one wrote it.
  const RegionPlan& body = *r.step.regions[1];
  auto spare = [&](size_t k, int64_t trip) {
    const bool stays = body.updated_arg(static_cast<int>(k)) == static_cast<int>(k);
    return r.scratch() + state.carried_offsets[2 * k + (stays ? 0 : trip % 2)];
  };
  for (size_t k = 0; k < carried; ++k) {
    const int operand = static_cast<int>(k);
    state.externals[k] = static_cast<std::byte*>(state.operands[k].data);
    if (r.IsDense(operand)) continue;
    state.externals[k] = spare(k, 1);
    r.CopyOperand(operand, state.externals[k]);
  }
  for (int64_t trip = 0;; ++trip) {
    state.region_results[0] = go_on;
    WEIR_RETURN_IF_ERROR(r.RunRegion(0, carried));
    if (!*reinterpret_cast<const bool*>(go_on)) break;
    for (size_t k = 0; k < carried; ++k) state.region_results[k] = spare(k, trip);
    WEIR_RETURN_IF_ERROR(r.RunRegion(1, carried));
    for (size_t k = 0; k < carried; ++k) state.externals[k] = state.region_results[k];
    WEIR_RETURN_IF_ERROR(r.context->MayGoOn());
  }
  for (size_t k = 0; k < carried; ++k) {
    const Layout& layout = state.regions[1]->result_layout(static_cast<int>(k));
    if (layout.bytes() == 0) continue;
    std::memcpy(r.result(static_cast<int>(k)), state.externals[k],
                static_cast<size_t>(layout.bytes()));
  }
  return absl::OkStatus();
}

absl::Status RunShard(const Running& r) {
  State& state = *r.state;
  *reinterpret_cast<int64_t*>(r.scratch()) = 0;
  state.externals[0] = r.scratch();
  for (size_t i = 0; i < state.operands.size(); ++i) {
    state.externals[i + 1] = static_cast<std::byte*>(state.operands[i].data);
  }
  for (size_t i = 0; i < state.results.size(); ++i) {
    state.region_results[i] = r.result(static_cast<int>(i));
  }
  return r.RunRegion(0, state.operands.size() + 1);
}

absl::StatusOr<SymbolBindings> SymbolsOfCall(const RegionPlan& callee, const State& state) {
  SymbolBindings symbols;
  for (int i = 0; i < callee.num_args(); ++i) {
    WEIR_RETURN_IF_ERROR(BindShape(callee.type(i).shape, state.operands[i].extents,
                                   StrCat("argument ", i), &symbols));
  }
  return symbols;
}

absl::Status RunCall(const Running& r) {
  const RegionPlan& callee = *r.step.callee;
  WEIR_ASSIGN_OR_RETURN(const SymbolBindings symbols, SymbolsOfCall(callee, *r.state));
  for (size_t i = 0; i < r.state->results.size(); ++i) {
    r.state->region_results[i] = r.result(static_cast<int>(i));
  }
  return RunFunction(callee, symbols, r.state->operands, r.state->region_results, r.context);
}

struct Rules {
  std::string_view op;
  absl::StatusOr<int64_t> (*prepare)(const Preparation&);
  absl::Status (*run)(const Running&);
};

constexpr Rules kRules[] = {
    {"case_rows", &PrepareCaseRows, &RunCaseRows},
    {"while_rows", &PrepareWhileRows, &RunWhileRows},
    {"ragged_rows", &PrepareRaggedRows, &RunRaggedRows},
    {"if", &PrepareBranches, &RunIf},
    {"case", &PrepareBranches, &RunCase},
    {"for", &PrepareFor, &RunFor},
    {"while", &PrepareWhile, &RunWhile},
    {"shard", &PrepareShard, &RunShard},
    {"call", &PrepareCall, &RunCall},
};

const Rules* FindRules(std::string_view op) {
  for (const Rules& rules : kRules) {
    if (rules.op == op) return &rules;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<FunctionEntry> EntryOfCall(const RegionPlan& callee, const State& state) {
  FunctionEntry entry{.plan = &callee};
  WEIR_ASSIGN_OR_RETURN(entry.symbols, SymbolsOfCall(callee, state));
  for (const cpu::View& view : state.operands) {
    entry.inputs.push_back({view.dtype, Extents(view.extents.begin(), view.extents.end()),
                            Extents(view.strides.begin(), view.strides.end())});
  }
  return entry;
}

absl::StatusOr<int64_t> PrepareControl(const RegionPlan::Step& step, const Graph& graph,
                                       const SymbolBindings& symbols,
                                       const std::vector<Layout>& operands,
                                       std::vector<std::vector<Layout>> captures,
                                       Activation::StepState* state) {
  const Node& node = graph.node(step.node);
  const Rules* rules = FindRules(node.op);
  if (rules == nullptr) {
    return absl::UnimplementedError(StrCat("the executor runs no ", node.op));
  }
  return rules->prepare({step, node, symbols, operands, captures, state});
}

absl::Status RunControl(const RegionPlan::Step& step, const Activation& activation,
                        Activation::StepState* state, const Activation::Memory& memory,
                        RunContext* context) {
  const Running running{step, activation, state, memory, context};
  return FindRules(running.node().op)->run(running);
}

}  // namespace weir
