#include <utility>
#include <vector>

#include "common/base/str_cat.h"
#include "common/ir/attr_text.h"
#include "common/ir/lexer.h"
#include "common/ir/names.h"
#include "common/ir/text.h"

namespace weir {
namespace {

// A place in a text without a name tells nobody anything, and keeping it out makes the text of a
// graph without locations read back as the same text.
bool IsWorthPrinting(const Location& location) {
  return location.known() && location.file != kAnonymousFile;
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Graph& graph, const Function& function, const PrintOptions& options,
                  std::string* out)
      : graph_(graph),
        function_(function),
        options_(options),
        names_(graph, function),
        out_(*out) {}

  void Print() {
    const Region& body = graph_.region(function_.body);
    StrAppend(&out_, "func @", NameText(function_.name), "(");
    PrintArgs(body.args);
    StrAppend(&out_, ") -> (");
    for (size_t i = 0; i < body.results.size(); ++i) {
      StrAppend(&out_, i == 0 ? "" : ", ", graph_.type(body.results[i]).ToString());
      const bool named = i < function_.result_names.size() && !function_.result_names[i].empty();
      if (named) StrAppend(&out_, " ", Quote(function_.result_names[i]));
    }
    StrAppend(&out_, ") ");
    PrintBody(function_.body, "return", 0);
    out_ += '\n';
  }

 private:
  void PrintArgs(const std::vector<ValueId>& args) {
    for (size_t i = 0; i < args.size(); ++i) {
      StrAppend(&out_, i == 0 ? "" : ", ", names_.Text(args[i]), ": ",
                graph_.type(args[i]).ToString());
    }
  }

  void PrintValues(const std::vector<ValueId>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      StrAppend(&out_, i == 0 ? "" : ", ", names_.Text(values[i]));
    }
  }

  void PrintBody(RegionId id, std::string_view end, int depth) {
    const Region& region = graph_.region(id);
    out_ += "{\n";
    for (NodeId node : region.nodes) {
      Indent(depth + 1);
      PrintNode(node, depth + 1);
    }
    Indent(depth + 1);
    StrAppend(&out_, end, region.results.empty() ? "" : " ");
    PrintValues(region.results);
    out_ += '\n';
    Indent(depth);
    out_ += '}';
  }

  void PrintNode(NodeId id, int depth) {
    const Node& node = graph_.node(id);
    if (node.outputs.empty()) {
      if (const std::string label = names_.Label(id); !label.empty())
        StrAppend(&out_, label, " = ");
    } else {
      PrintValues(node.outputs);
      out_ += " = ";
    }
    out_ += node.op;
    if (!node.inputs.empty()) {
      out_ += '(';
      PrintValues(node.inputs);
      out_ += ')';
    }
    if (!node.attrs.empty()) StrAppend(&out_, " ", AttrsToText(node.attrs, options_));
    for (RegionId region : node.regions) PrintRegion(region, depth);
    PrintSuffix(node);
    out_ += '\n';
  }

  void PrintRegion(RegionId id, int depth) {
    if (const std::vector<ValueId>& args = graph_.region(id).args; !args.empty()) {
      out_ += " (";
      PrintArgs(args);
      out_ += ')';
    }
    out_ += ' ';
    PrintBody(id, "yield", depth);
  }

  void PrintSuffix(const Node& node) {
    for (size_t i = 0; i < node.control_inputs.size(); ++i) {
      StrAppend(&out_, i == 0 ? " after(" : ", ", names_.NodeText(node.control_inputs[i]));
    }
    if (!node.control_inputs.empty()) out_ += ')';
    if (!node.name.empty()) StrAppend(&out_, " name(", Quote(node.name), ")");
    if (IsWorthPrinting(node.location)) {
      StrAppend(&out_, " loc(", Quote(node.location.file), ":", node.location.line, ":",
                node.location.column, ")");
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      StrAppend(&out_, i == 0 ? " : " : ", ", graph_.type(node.outputs[i]).ToString());
    }
  }

  void Indent(int depth) { out_.append(2 * static_cast<size_t>(depth), ' '); }

  const Graph& graph_;
  const Function& function_;
  const PrintOptions& options_;
  const ValueNames names_;
  std::string& out_;
};

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  std::string out;
  for (const Function& function : graph.functions()) {
    if (!out.empty()) out += '\n';
    FunctionPrinter(graph, function, options, &out).Print();
  }
  return out;
}

}  // namespace weir
