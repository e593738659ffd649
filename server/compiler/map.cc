#include "server/compiler/map.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

std::string FreshName(const std::set<std::string, std::less<>>& taken, std::string_view wish) {
  std::string name(wish);
  for (int i = 1; taken.contains(name); ++i) name = StrCat(wish, i);
  return name;
}

absl::Status CheckNames(const Graph& program, const std::vector<std::string>& map) {
  std::vector<std::string> inputs;
  for (ValueId arg : program.region(program.entry().body).args) {
    inputs.push_back(program.value(arg).name);
  }
  std::set<std::string> seen;
  for (const std::string& name : map) {
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
      return InvalidArgument("there is no input '", name, "' to map; the inputs are ",
                             absl::StrJoin(inputs, ", "));
    }
    if (!seen.insert(name).second) return InvalidArgument("input '", name, "' is mapped twice");
  }
  return absl::OkStatus();
}

// Calls of the entry, also its own, go on calling it under its new name.
void RenameCallee(Graph* program, const std::string& from, const std::string& to) {
  for (int i = 0; i < program->num_nodes(); ++i) {
    Node& node = program->node(NodeId(i));
    if (node.op == "call" && node.attr("callee").AsString() == from) node.attrs["callee"] = to;
  }
}

}  // namespace

absl::StatusOr<Graph> MapOver(Graph program, const std::vector<std::string>& map) {
  if (map.empty()) return program;
  WEIR_RETURN_IF_ERROR(CheckNames(program, map));
  std::set<std::string, std::less<>> symbols;
  for (int i = 0; i < program.num_values(); ++i) {
    program.type(ValueId(i)).shape.CollectSymbols(&symbols);
  }
  std::set<std::string, std::less<>> names;
  for (const Function& function : program.functions()) names.insert(function.name);
  const Dim extent = Dim::Symbol(FreshName(symbols, "n"));
  const std::string model = FreshName(names, "example");

  Function& entry = program.functions().front();
  const std::string entry_name = std::exchange(entry.name, model);
  RenameCallee(&program, entry_name, model);
  const std::vector<std::string> result_names = entry.result_names;
  const std::vector<ValueId> params = program.region(entry.body).args;
  const RegionId body = program.AddFunction(entry_name).body;
  std::rotate(program.functions().begin(), program.functions().end() - 1,
              program.functions().end());

  Builder outer(&program, body, &Ops());
  Builder inner = outer.In(outer.NewRegion());
  const ValueId index = inner.AddArg({DType::kI64, Shape()}, "i");
  std::vector<ValueId> example;
  for (ValueId param : params) {
    TensorType type = program.type(param);
    const std::string name = program.value(param).name;
    const bool mapped = std::find(map.begin(), map.end(), name) != map.end();
    if (mapped) type.shape.dims().insert(type.shape.dims().begin(), extent);
    const ValueId arg = outer.AddArg(std::move(type), name);
    example.push_back(mapped ? TakeRow(inner, arg, index) : arg);
  }
  inner.Yield(inner.ApplyAll("call", example, {{"callee", model}}));
  outer.Yield(outer.ApplyAll("pfor", {}, {{"extent", std::vector<Dim>{extent}}}, {inner.region()}));
  WEIR_RETURN_IF_ERROR(outer.status());
  program.functions().front().result_names = result_names;
  return program;
}

}  // namespace weir
