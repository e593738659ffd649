#include <set>

#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/attr_text.h"
#include "common/ir/lexer.h"
#include "common/ir/names.h"

namespace weir {
namespace {

class FlowPrinter {
 public:
  FlowPrinter(const Flow& flow, const PrintOptions& options) : flow_(flow), options_(options) {
    ChooseNames();
  }

  std::string Print() {
    StrAppend(&out_, "flow @", NameText(flow_.name), " {\n");
    for (const FlowLoop& loop : flow_.loops) PrintLoop(loop);
    for (size_t v = 0; v < flow_.vertices.size(); ++v) PrintVertex(v);
    return out_ + "}\n";
  }

 private:
  // Names of vertices stay; those of further outputs that are missing or taken are made up.
  void ChooseNames() {
    std::set<std::string> taken;
    for (const FlowVertex& vertex : flow_.vertices) {
      taken.insert(vertex.name);
      names_.push_back({vertex.name});
    }
    for (size_t v = 0; v < flow_.vertices.size(); ++v) {
      const FlowVertex& vertex = flow_.vertices[v];
      for (int o = 1; o < vertex.def->outputs; ++o) {
        const bool given = o <= static_cast<int>(vertex.other_outputs.size());
        std::string name = given ? vertex.other_outputs[o - 1] : StrCat(vertex.name, ".", o);
        while (name.empty() || !taken.insert(name).second) name += "_";
        names_[v].push_back(std::move(name));
      }
    }
  }

  void PrintLoop(const FlowLoop& loop) {
    StrAppend(&out_, "  loop @", NameText(loop.name));
    if (loop.parent != LogicalGraph::kRoot) {
      StrAppend(&out_, " in @", NameText(flow_.loops[loop.parent.value() - 1].name));
    }
    out_ += '\n';
  }

  void PrintVertex(size_t v) {
    const FlowVertex& vertex = flow_.vertices[v];
    for (size_t o = 0; o < names_[v].size(); ++o) {
      StrAppend(&out_, o == 0 ? "  %" : ", %", NameText(names_[v][o]));
    }
    StrAppend(&out_, " = ", vertex.kind, "(");
    for (size_t i = 0; i < vertex.inputs.size(); ++i) {
      const FlowPort& input = vertex.inputs[i];
      StrAppend(&out_, i == 0 ? "%" : ", %", NameText(names_[input.vertex.value()][input.output]));
    }
    out_ += ')';
    if (!vertex.attrs.empty()) StrAppend(&out_, " ", AttrsToText(vertex.attrs, options_));
    const Location& location = vertex.location;
    if (location.known() && location.file != kAnonymousFile) {
      StrAppend(&out_, " loc(", Quote(location.file), ":", location.line, ":", location.column,
                ")");
    }
    out_ += '\n';
  }

  const Flow& flow_;
  const PrintOptions& options_;
  std::vector<std::vector<std::string>> names_;  // of each vertex's outputs
  std::string out_;
};

}  // namespace

std::string PrintFlow(const Flow& flow, const PrintOptions& options) {
  std::string functions;
  if (flow.functions != nullptr) functions = Print(*flow.functions, options);
  return StrCat(functions, functions.empty() ? "" : "\n", FlowPrinter(flow, options).Print());
}

}  // namespace weir
