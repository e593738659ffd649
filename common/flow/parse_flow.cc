#include <map>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/attr_text.h"
#include "common/ir/names.h"
#include "common/ir/suggest.h"
#include "common/ir/syntax.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

struct Name {
  std::string text;
  Position position;
};

class FlowParser {
 public:
  FlowParser(std::string_view text, const FlowParseOptions& options)
      : lexer_(text, FileName(options.functions)), options_(options) {}

  absl::StatusOr<Flow> Run() {
    bool seen = false;
    while (lexer_.token().kind != Token::Kind::kEnd) {
      if (lexer_.token().Is("func")) {
        WEIR_RETURN_IF_ERROR(TakeFunctions());
      } else if (seen) {
        return lexer_.Unexpected("'func' (a text has one flow)");
      } else {
        WEIR_RETURN_IF_ERROR(TakeFlow());
        seen = true;
      }
    }
    if (!seen) return lexer_.Unexpected("'flow'");
    WEIR_RETURN_IF_ERROR(ConnectAll());
    Graph functions;
    if (!functions_.empty()) {
      WEIR_ASSIGN_OR_RETURN(functions, Resolve(std::move(functions_), Ops(), options_.functions));
    }
    flow_.functions = std::make_shared<const Graph>(std::move(functions));
    return std::move(flow_);
  }

 private:
  absl::Status TakeFunctions() {
    WEIR_ASSIGN_OR_RETURN(ProgramSyntax more, ParseFunctions(&lexer_, Ops(), options_.functions));
    for (FunctionSyntax& function : more) functions_.push_back(std::move(function));
    return absl::OkStatus();
  }

  absl::Status TakeFlow() {
    if (!lexer_.Accept("flow")) return lexer_.Unexpected("'func' or 'flow'");
    WEIR_ASSIGN_OR_RETURN(const Name name, TakeName(Token::Kind::kFunction, "a flow @name"));
    flow_.name = name.text;
    WEIR_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) {
      if (lexer_.Accept("loop")) {
        WEIR_RETURN_IF_ERROR(TakeLoop());
      } else if (lexer_.token().kind == Token::Kind::kValue) {
        WEIR_RETURN_IF_ERROR(TakeVertex());
      } else {
        return lexer_.Unexpected("a vertex '%name = kind(...)', 'loop' or '}'");
      }
    }
    return absl::OkStatus();
  }

  // A token of this kind with a name that is not empty.
  absl::StatusOr<Name> TakeName(Token::Kind kind, std::string_view what) {
    const Position position = lexer_.token().position;
    WEIR_ASSIGN_OR_RETURN(std::string text, lexer_.Take(kind, what));
    if (text.empty()) return lexer_.ErrorAt(position, "a name has a character at least");
    return Name{std::move(text), position};
  }

  absl::Status TakeLoop() {
    WEIR_ASSIGN_OR_RETURN(const Name name, TakeName(Token::Kind::kFunction, "a loop @name"));
    ScopeId parent = LogicalGraph::kRoot;
    if (lexer_.Accept("in")) {
      WEIR_ASSIGN_OR_RETURN(const Name outer, TakeName(Token::Kind::kFunction, "a loop @name"));
      const auto found = loops_.find(outer.text);
      if (found == loops_.end()) {
        return lexer_.ErrorAt(
            outer.position, StrCat("there is no loop @", NameText(outer.text), " above this line"));
      }
      parent = found->second;
    }
    const ScopeId scope(static_cast<int64_t>(flow_.loops.size()) + 1);
    if (!loops_.emplace(name.text, scope).second) {
      return lexer_.ErrorAt(name.position,
                            StrCat("there is a loop @", NameText(name.text), " already"));
    }
    flow_.loops.push_back({name.text, parent});
    if (static_cast<int64_t>(flow_.loops.size()) > options_.max_loops) {
      return lexer_.ErrorAt(name.position,
                            StrCat("the flow has more than ", options_.max_loops, " loops"));
    }
    if (flow_.DepthOf(scope) > options_.max_loop_depth) {
      return lexer_.ErrorAt(name.position,
                            StrCat("loops are nested deeper than ", options_.max_loop_depth));
    }
    return absl::OkStatus();
  }

  absl::Status TakeVertex() {
    const Position position = lexer_.token().position;
    if (static_cast<int64_t>(flow_.vertices.size()) >= options_.max_vertices) {
      return lexer_.ErrorAt(position,
                            StrCat("the flow has more than ", options_.max_vertices, " vertices"));
    }
    FlowVertex& vertex = flow_.vertices.emplace_back();
    vertex.location = {FileName(options_.functions), position.line, position.column};
    std::vector<Name> names;
    do {
      WEIR_ASSIGN_OR_RETURN(Name name, TakeName(Token::Kind::kValue, "a value %name"));
      names.push_back(std::move(name));
    } while (lexer_.Accept(","));
    WEIR_RETURN_IF_ERROR(lexer_.Expect("="));
    WEIR_RETURN_IF_ERROR(TakeKind(&vertex, names.size()));
    WEIR_RETURN_IF_ERROR(Define(names));
    vertex.name = names[0].text;
    for (size_t i = 1; i < names.size(); ++i) vertex.other_outputs.push_back(names[i].text);
    WEIR_RETURN_IF_ERROR(TakeInputs());
    if (lexer_.token().Is("{")) {
      WEIR_ASSIGN_OR_RETURN(vertex.attrs, ParseAttrsText(&lexer_, options_.functions));
    }
    return TakeLocation(&vertex);
  }

  absl::Status TakeKind(FlowVertex* vertex, size_t names) {
    const Position position = lexer_.token().position;
    WEIR_ASSIGN_OR_RETURN(vertex->kind,
                          lexer_.Take(Token::Kind::kIdentifier, "the kind of a vertex"));
    const VertexKind* const kind = FindVertexKind(vertex->kind);
    if (kind == nullptr) {
      std::vector<std::string_view> kinds;
      for (const VertexKind& known : AllVertexKinds()) kinds.push_back(known.name);
      const std::string_view closest = Closest(vertex->kind, kinds);
      const std::string hint = closest.empty() ? "" : StrCat("; did you mean '", closest, "'?");
      return lexer_.ErrorAt(position,
                            StrCat("there is no kind of vertex '", vertex->kind, "'", hint));
    }
    if (names == static_cast<size_t>(std::max(kind->outputs, 1))) return absl::OkStatus();
    return lexer_.ErrorAt(position, StrCat(vertex->kind, " has ", kind->outputs, " outputs, but ",
                                           names, " names stand before it"));
  }

  absl::Status Define(const std::vector<Name>& names) {
    const VertexId id(static_cast<int64_t>(flow_.vertices.size()) - 1);
    for (size_t i = 0; i < names.size(); ++i) {
      const Definition definition = {{id, static_cast<int>(i)}, names[i].position};
      const auto [found, is_new] = values_.emplace(names[i].text, definition);
      if (is_new) continue;
      return lexer_.ErrorAt(
          names[i].position,
          StrCat("%", NameText(names[i].text), " is defined twice (first at ",
                 found->second.position.line, ":", found->second.position.column, ")"));
    }
    return absl::OkStatus();
  }

  // What inputs name may be defined further down, so they are connected at the end.
  absl::Status TakeInputs() {
    std::vector<Name>& inputs = inputs_.emplace_back();
    WEIR_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return absl::OkStatus();
    do {
      WEIR_ASSIGN_OR_RETURN(Name name, TakeName(Token::Kind::kValue, "a value %name"));
      if (++streams_ > options_.max_streams) {
        return lexer_.ErrorAt(name.position, StrCat("the vertices of the flow have more than ",
                                                    options_.max_streams, " inputs"));
      }
      inputs.push_back(std::move(name));
    } while (lexer_.Accept(","));
    return lexer_.Expect(")");
  }

  absl::Status TakeLocation(FlowVertex* vertex) {
    if (!lexer_.Accept("loc")) return absl::OkStatus();
    WEIR_RETURN_IF_ERROR(lexer_.Expect("("));
    const Position position = lexer_.token().position;
    WEIR_ASSIGN_OR_RETURN(vertex->location, ParseLocationText(&lexer_));
    if (!vertex->location.known()) return lexer_.ErrorAt(position, "a location needs a file");
    return lexer_.Expect(")");
  }

  absl::Status ConnectAll() {
    for (size_t v = 0; v < inputs_.size(); ++v) {
      for (const Name& input : inputs_[v]) {
        WEIR_ASSIGN_OR_RETURN(const FlowPort from, Find(input));
        flow_.vertices[v].inputs.push_back(from);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<FlowPort> Find(const Name& name) const {
    const auto found = values_.find(name.text);
    if (found == values_.end()) {
      std::vector<std::string_view> known;
      for (const auto& [value, definition] : values_) known.push_back(value);
      const std::string_view closest = Closest(name.text, known);
      return lexer_.ErrorAt(
          name.position,
          StrCat("no vertex gives %", NameText(name.text),
                 closest.empty() ? "" : StrCat("; did you mean %", NameText(closest), "?")));
    }
    const FlowPort port = found->second.port;
    const FlowVertex& from = flow_.vertex(port.vertex);
    if (FindVertexKind(from.kind)->outputs > 0) return port;
    return lexer_.ErrorAt(name.position, StrCat("%", NameText(name.text), " is of kind ", from.kind,
                                                ", which gives no records"));
  }

  struct Definition {
    FlowPort port;
    Position position;
  };

  Lexer lexer_;
  const FlowParseOptions& options_;
  Flow flow_;
  ProgramSyntax functions_;
  std::vector<std::vector<Name>> inputs_;  // of each vertex
  int64_t streams_ = 0;
  std::map<std::string, Definition, std::less<>> values_;
  std::map<std::string, ScopeId, std::less<>> loops_;
};

}  // namespace

absl::StatusOr<Flow> ParseFlow(std::string_view text, const FlowParseOptions& options) {
  WEIR_ASSIGN_OR_RETURN(Flow flow, FlowParser(text, options).Run());
  WEIR_RETURN_IF_ERROR(CheckFlow(&flow));
  return flow;
}

bool LooksLikeFlow(std::string_view text) {
  Lexer lexer(text, kAnonymousFile);
  while (lexer.token().kind != Token::Kind::kEnd) {
    if (lexer.Accept("flow") && lexer.token().kind == Token::Kind::kFunction) return true;
    lexer.Next();
  }
  return false;
}

}  // namespace weir
