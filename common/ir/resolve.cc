#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ir/names.h"
#include "common/ir/syntax.h"
#include "common/ir/verify.h"

namespace weir {
namespace {

bool NeedsInference(const RegionSyntax& region) {
  return std::any_of(region.nodes.begin(), region.nodes.end(), [](const NodeSyntax& node) {
    return (!node.has_types && !node.outputs.empty()) ||
           std::any_of(node.regions.begin(), node.regions.end(), NeedsInference);
  });
}

class Resolver {
 public:
  Resolver(const OpCatalog& catalog, const ParseOptions& options)
      : catalog_(catalog), options_(options) {}

  absl::StatusOr<Graph> Run(ProgramSyntax* program) {
    for (FunctionSyntax& function : *program) {
      WEIR_RETURN_IF_ERROR(Declare(&function));
      WEIR_RETURN_IF_ERROR(BindNames(&function, options_));
    }
    const bool inference =
        std::any_of(program->begin(), program->end(),
                    [](const FunctionSyntax& function) { return NeedsInference(function.body); });
    if (inference) AddDeclaredResults(*program);
    for (size_t i = 0; i < program->size(); ++i) {
      WEIR_RETURN_IF_ERROR(Define((*program)[i], graph_.functions()[i].body));
    }
    WEIR_RETURN_IF_ERROR(CheckWrittenTypes());
    if (inference) return Compact(graph_);  // drops the declared results
    return std::move(graph_);
  }

 private:
  absl::Status Declare(FunctionSyntax* function) {
    const auto [it, is_new] = functions_.try_emplace(function->name, function->position);
    if (!is_new) {
      return SyntaxError(
          options_, function->position,
          StrCat("function @", NameText(function->name), " is defined twice (first at ",
                 it->second.line, ":", it->second.column, ")"));
    }
    Function& out = graph_.AddFunction(function->name);
    out.result_names = function->result_names;
    AddArgs(&function->body, out.body);
    return absl::OkStatus();
  }

  // While types are inferred, a call may look at a function that has no body yet, or at its own.
  void AddDeclaredResults(const ProgramSyntax& program) {
    const RegionId scratch = graph_.AddRegion();
    for (size_t i = 0; i < program.size(); ++i) {
      std::vector<ValueId> results;
      for (const TensorType& type : program[i].result_types) {
        results.push_back(graph_.AddArg(scratch, type));
      }
      graph_.region(graph_.functions()[i].body).results = std::move(results);
    }
  }

  absl::Status Define(FunctionSyntax& function, RegionId body) {
    WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results, AddBody(&function.body, body));
    const std::string name = StrCat("function @", NameText(function.name));
    if (results.size() != function.result_types.size()) {
      return SyntaxError(options_, function.body.end,
                         StrCat(name, " returns ", results.size(), " values but declares ",
                                function.result_types.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (graph_.type(results[i]) == function.result_types[i]) continue;
      return SyntaxError(
          options_, function.body.results[i].position,
          StrCat(name, " returns ", graph_.type(results[i]).ToString(), " as result ", i,
                 " but declares ", function.result_types[i].ToString()));
    }
    graph_.region(body).results = std::move(results);
    return absl::OkStatus();
  }

  void AddArgs(RegionSyntax* region, RegionId id) {
    for (size_t i = 0; i < region->args.size(); ++i) {
      DefinitionSyntax& arg = region->args[i];
      arg.value = graph_.AddArg(id, region->arg_types[i], ValueName(arg));
    }
  }

  // Returns: the results.
  absl::StatusOr<std::vector<ValueId>> AddBody(RegionSyntax* region, RegionId id) {
    for (int i : region->order) WEIR_RETURN_IF_ERROR(AddNode(&region->nodes[i], id));
    return Values(region->results);
  }

  absl::Status AddNode(NodeSyntax* syntax, RegionId parent) {
    Node node;
    node.op = syntax->op;
    node.inputs = Values(syntax->inputs);
    node.attrs = std::move(syntax->attrs);
    node.parent = parent;
    for (RegionSyntax& region : syntax->regions) {
      const RegionId id = graph_.AddRegion();
      AddArgs(&region, id);
      WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results, AddBody(&region, id));
      graph_.region(id).results = std::move(results);
      node.regions.push_back(id);
    }
    if (!syntax->has_types && !syntax->outputs.empty()) {
      WEIR_ASSIGN_OR_RETURN(syntax->types, InferTypes(*syntax, node));
    } else {
      written_.push_back(syntax);
    }
    syntax->id = graph_.AddNode(parent, std::move(node.op), std::move(node.inputs),
                                std::move(node.attrs), syntax->types, std::move(node.regions));
    Node& added = graph_.node(syntax->id);
    added.name = syntax->name;
    added.location = syntax->location;
    for (const UseSyntax& before : syntax->control_inputs) {
      added.control_inputs.push_back(before.node->id);
    }
    for (size_t i = 0; i < syntax->outputs.size(); ++i) {
      syntax->outputs[i].value = added.outputs[i];
      graph_.value(added.outputs[i]).name = ValueName(syntax->outputs[i]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<TensorType>> InferTypes(const NodeSyntax& syntax,
                                                     const Node& node) const {
    absl::StatusOr<std::vector<TensorType>> types = catalog_.Infer(graph_, node);
    if (!types.ok()) {
      const std::string inputs =
          node.inputs.empty() ? "" : StrCat(" (inputs ", TypesToString(graph_, node.inputs), ")");
      return NodeError(syntax, StrCat(types.status().message(), inputs));
    }
    if (types->size() != syntax.outputs.size()) {
      return NodeError(syntax, StrCat("it has ", syntax.outputs.size(),
                                      " outputs where the op gives ", types->size()));
    }
    for (const TensorType& type : *types) {
      const absl::Status status = CheckType(type);
      if (!status.ok()) return NodeError(syntax, ToStd(status.message()));
    }
    return types;
  }

  absl::Status CheckWrittenTypes() const {
    for (const NodeSyntax* syntax : written_) {
      const absl::Status status = CheckOutputTypes(graph_, graph_.node(syntax->id), catalog_);
      if (!status.ok()) return NodeError(*syntax, ToStd(status.message()));
    }
    return absl::OkStatus();
  }

  absl::Status NodeError(const NodeSyntax& syntax, std::string_view message) const {
    const Location in_text = {options_.file, syntax.position.line, syntax.position.column};
    std::string node = syntax.op;
    if (!syntax.name.empty()) StrAppend(&node, " \"", syntax.name, "\"");
    if (syntax.location.known() && syntax.location != in_text) {
      StrAppend(&node, " (", syntax.location.ToString(), ")");
    }
    return SyntaxError(options_, syntax.position, StrCat(node, ": ", message));
  }

  static std::vector<ValueId> Values(const std::vector<UseSyntax>& uses) {
    std::vector<ValueId> out;
    out.reserve(uses.size());
    for (const UseSyntax& use : uses) out.push_back(use.value->value);
    return out;
  }

  static std::string ValueName(const DefinitionSyntax& definition) {
    return definition.name[0] == '#' ? "" : definition.name.substr(1);
  }

  const OpCatalog& catalog_;
  const ParseOptions& options_;
  Graph graph_;
  absl::flat_hash_map<std::string_view, Position> functions_;
  std::vector<const NodeSyntax*> written_;
};

}  // namespace

absl::StatusOr<Graph> Resolve(ProgramSyntax program, const OpCatalog& catalog,
                              const ParseOptions& options) {
  return Resolver(catalog, options).Run(&program);
}

}  // namespace weir
