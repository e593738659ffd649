#include <utility>

#include "common/base/status.h"
#include "common/ir/attr_text.h"
#include "common/ir/names.h"
#include "common/ir/number_text.h"
#include "common/ir/suggest.h"
#include "common/ir/syntax.h"
#include "common/ir/tensor_text.h"
#include "common/ir/text.h"

namespace weir {
namespace {

// Recursive descent; recursion happens only over regions and is bounded by max_region_depth.
class Parser {
 public:
  Parser(Lexer* lexer, const OpCatalog& catalog, const ParseOptions& options)
      : lexer_(*lexer), catalog_(catalog), options_(options) {}

  absl::StatusOr<ProgramSyntax> Run() {
    ProgramSyntax program;
    do {
      WEIR_RETURN_IF_ERROR(lexer_.Expect("func"));
      WEIR_RETURN_IF_ERROR(ParseFunction(&program.emplace_back()));
    } while (lexer_.token().Is("func"));
    return program;
  }

 private:
  absl::Status ParseFunction(FunctionSyntax* function) {
    function->position = lexer_.token().position;
    WEIR_ASSIGN_OR_RETURN(function->name, lexer_.Take(Token::Kind::kFunction, "a function @name"));
    if (function->name.empty()) {
      return lexer_.ErrorAt(function->position, "a function needs a name");
    }
    WEIR_RETURN_IF_ERROR(ParseRegionArgs(&function->body));
    WEIR_RETURN_IF_ERROR(lexer_.Expect("->"));
    WEIR_RETURN_IF_ERROR(ParseResultTypes(function));
    return ParseBody(&function->body, "return", 0);
  }

  absl::Status ParseResultTypes(FunctionSyntax* function) {
    WEIR_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return absl::OkStatus();
    do {
      WEIR_ASSIGN_OR_RETURN(TensorType type, ParseTypeText(&lexer_));
      function->result_types.push_back(std::move(type));
      std::string& name = function->result_names.emplace_back();
      if (lexer_.token().kind == Token::Kind::kString) {
        WEIR_ASSIGN_OR_RETURN(name, lexer_.Take(Token::Kind::kString, "the name of a result"));
      }
    } while (lexer_.Accept(","));
    return lexer_.Expect(")");
  }

  absl::Status ParseRegionArgs(RegionSyntax* region) {
    WEIR_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return absl::OkStatus();
    do {
      WEIR_RETURN_IF_ERROR(ParseDefinition(&region->args));
      WEIR_RETURN_IF_ERROR(lexer_.Expect(":"));
      WEIR_ASSIGN_OR_RETURN(TensorType type, ParseTypeText(&lexer_));
      region->arg_types.push_back(std::move(type));
    } while (lexer_.Accept(","));
    return lexer_.Expect(")");
  }

  // `{ nodes end values }`.
  absl::Status ParseBody(RegionSyntax* region, std::string_view end, int depth) {
    if (depth > options_.max_region_depth) {
      return lexer_.ErrorAt(lexer_.token().position,
                            StrCat("regions are nested deeper than ", options_.max_region_depth));
    }
    WEIR_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.token().Is(end)) {
      if (AtStatementEnd()) return lexer_.Unexpected(StrCat("a node or '", end, "'"));
      if (++nodes_ > options_.max_nodes) {
        return lexer_.ErrorAt(lexer_.token().position,
                              StrCat("the program has more than ", options_.max_nodes, " nodes"));
      }
      WEIR_RETURN_IF_ERROR(ParseNode(&region->nodes.emplace_back(), depth));
    }
    region->end = lexer_.token().position;
    lexer_.Next();
    if (lexer_.token().kind == Token::Kind::kValue) {
      WEIR_RETURN_IF_ERROR(ParseUses(&region->results));
    }
    return lexer_.Expect("}");
  }

  // True where no node can begin.
  bool AtStatementEnd() const {
    const Token& token = lexer_.token();
    return token.kind == Token::Kind::kPunctuation || token.kind == Token::Kind::kEnd ||
           token.Is("yield") || token.Is("return") || token.Is("func");
  }

  absl::Status ParseNode(NodeSyntax* node, int depth) {
    node->position = lexer_.token().position;
    if (lexer_.token().kind == Token::Kind::kLabel) {
      DefinitionSyntax& label = node->label.emplace_back();
      label.position = lexer_.token().position;
      label.name = TakeName();
      WEIR_RETURN_IF_ERROR(lexer_.Expect("="));
    } else if (lexer_.token().kind == Token::Kind::kValue) {
      do {
        WEIR_RETURN_IF_ERROR(ParseDefinition(&node->outputs));
      } while (lexer_.Accept(","));
      WEIR_RETURN_IF_ERROR(lexer_.Expect("="));
    }
    WEIR_RETURN_IF_ERROR(ParseOp(node));
    if (lexer_.token().Is("(") && !AtRegionArgs()) {
      WEIR_RETURN_IF_ERROR(ParseInputs(node));
    }
    if (AtAttrs()) {
      WEIR_ASSIGN_OR_RETURN(node->attrs, ParseAttrsText(&lexer_, options_));
    }
    while (lexer_.token().Is("(") || lexer_.token().Is("{")) {
      RegionSyntax& region = node->regions.emplace_back();
      if (lexer_.token().Is("(")) WEIR_RETURN_IF_ERROR(ParseRegionArgs(&region));
      WEIR_RETURN_IF_ERROR(ParseBody(&region, "yield", depth + 1));
    }
    WEIR_RETURN_IF_ERROR(ParseClauses(node));
    return ParseTypes(node);
  }

  absl::Status ParseOp(NodeSyntax* node) {
    const Position position = lexer_.token().position;
    WEIR_ASSIGN_OR_RETURN(node->op, lexer_.Take(Token::Kind::kIdentifier, "the name of an op"));
    if (catalog_.Has(node->op)) return absl::OkStatus();
    const std::string_view close = Closest(node->op, catalog_.Names());
    const std::string hint = close.empty() ? "" : StrCat("; did you mean '", close, "'?");
    return lexer_.ErrorAt(position, StrCat("unknown op '", node->op, "'", hint));
  }

  absl::Status ParseInputs(NodeSyntax* node) {
    lexer_.Next();
    if (lexer_.Accept(")")) return absl::OkStatus();
    WEIR_RETURN_IF_ERROR(ParseUses(&node->inputs));
    return lexer_.Expect(")");
  }

  // Clauses may come in any order.
  absl::Status ParseClauses(NodeSyntax* node) {
    node->location = {options_.file, node->position.line, node->position.column};
    bool after = false;
    bool name = false;
    bool location = false;
    while (true) {
      const Token& token = lexer_.token();
      bool* const seen = token.Is("after")  ? &after
                         : token.Is("name") ? &name
                         : token.Is("loc")  ? &location
                                            : nullptr;
      if (seen == nullptr) return absl::OkStatus();
      if (std::exchange(*seen, true)) return lexer_.Unexpected("each clause at most once");
      lexer_.Next();
      WEIR_RETURN_IF_ERROR(lexer_.Expect("("));
      if (seen == &after) {
        WEIR_RETURN_IF_ERROR(ParseUses(&node->control_inputs));
      } else if (seen == &name) {
        WEIR_ASSIGN_OR_RETURN(node->name, lexer_.Take(Token::Kind::kString, "a name in quotes"));
      } else {
        WEIR_ASSIGN_OR_RETURN(node->location, ParseLocationText(&lexer_));
      }
      WEIR_RETURN_IF_ERROR(lexer_.Expect(")"));
    }
  }

  absl::Status ParseTypes(NodeSyntax* node) {
    const Position position = lexer_.token().position;
    if (!lexer_.Accept(":")) return absl::OkStatus();
    node->has_types = true;
    do {
      WEIR_ASSIGN_OR_RETURN(TensorType type, ParseTypeText(&lexer_));
      node->types.push_back(std::move(type));
    } while (lexer_.Accept(","));
    if (node->types.size() == node->outputs.size()) return absl::OkStatus();
    return lexer_.ErrorAt(position, StrCat(node->op, " has ", node->outputs.size(), " outputs but ",
                                           node->types.size(), " types"));
  }

  absl::Status ParseDefinition(std::vector<DefinitionSyntax>* out) {
    if (lexer_.token().kind != Token::Kind::kValue) return lexer_.Unexpected("a value %name");
    DefinitionSyntax& definition = out->emplace_back();
    definition.position = lexer_.token().position;
    definition.name = TakeName();
    return absl::OkStatus();
  }

  // One or more values or labels.
  absl::Status ParseUses(std::vector<UseSyntax>* out) {
    do {
      const Token::Kind kind = lexer_.token().kind;
      if (kind != Token::Kind::kValue && kind != Token::Kind::kLabel) {
        return lexer_.Unexpected("a value %name");
      }
      UseSyntax& use = out->emplace_back();
      use.position = lexer_.token().position;
      use.name = TakeName();
    } while (lexer_.Accept(","));
    return absl::OkStatus();
  }

  std::string TakeName() {
    const Token& token = lexer_.token();
    const bool unnamed = !token.quoted && IsAllDigits(token.content);
    const char kind = token.kind == Token::Kind::kLabel ? '!' : unnamed ? '#' : '%';
    std::string name = StrCat(std::string(1, kind), token.content);
    lexer_.Next();
    return name;
  }

  // A '(' that opens `(%i: type` and not `(%x, %y)`.
  bool AtRegionArgs() const {
    Lexer ahead = lexer_;
    ahead.Next();
    if (ahead.token().kind != Token::Kind::kValue) return false;
    ahead.Next();
    return ahead.token().Is(":");
  }

  // A '{' that opens `{}` or `{name = `; a region has at least its `yield`.
  bool AtAttrs() const {
    if (!lexer_.token().Is("{")) return false;
    Lexer ahead = lexer_;
    ahead.Next();
    if (ahead.token().Is("}")) return true;
    const Token::Kind kind = ahead.token().kind;
    if (kind != Token::Kind::kIdentifier && kind != Token::Kind::kString) return false;
    ahead.Next();
    return ahead.token().Is("=");
  }

  Lexer& lexer_;
  const OpCatalog& catalog_;
  const ParseOptions& options_;
  int64_t nodes_ = 0;
};

}  // namespace

std::string WrittenName(std::string_view name) {
  const std::string_view rest = name.substr(1);
  if (name[0] == '!') return std::string(name);
  return StrCat("%", name[0] == '#' ? std::string(rest) : NameText(rest));
}

absl::StatusOr<Location> ParseLocationText(Lexer* lexer) {
  Location location;
  WEIR_ASSIGN_OR_RETURN(location.file, lexer->Take(Token::Kind::kString, "a file in quotes"));
  WEIR_RETURN_IF_ERROR(lexer->Expect(":"));
  WEIR_ASSIGN_OR_RETURN(location.line, ParseInteger<int>(lexer));
  WEIR_RETURN_IF_ERROR(lexer->Expect(":"));
  WEIR_ASSIGN_OR_RETURN(location.column, ParseInteger<int>(lexer));
  return location;
}

const std::string& FileName(const ParseOptions& options) {
  static const std::string& anonymous = *new std::string(kAnonymousFile);
  return options.file.empty() ? anonymous : options.file;
}

absl::Status SyntaxError(const ParseOptions& options, Position position, std::string_view message) {
  return InvalidArgument(FileName(options), ":", position.line, ":", position.column, ": ",
                         message);
}

absl::StatusOr<ProgramSyntax> ParseFunctions(Lexer* lexer, const OpCatalog& catalog,
                                             const ParseOptions& options) {
  return Parser(lexer, catalog, options).Run();
}

absl::StatusOr<ProgramSyntax> ParseSyntax(std::string_view text, const OpCatalog& catalog,
                                          const ParseOptions& options) {
  Lexer lexer(text, FileName(options));
  WEIR_ASSIGN_OR_RETURN(ProgramSyntax program, ParseFunctions(&lexer, catalog, options));
  if (lexer.token().kind == Token::Kind::kEnd) return program;
  return lexer.Unexpected("'func'");
}

absl::StatusOr<Graph> Parse(std::string_view text, const OpCatalog& catalog,
                            const ParseOptions& options) {
  WEIR_ASSIGN_OR_RETURN(ProgramSyntax program, ParseSyntax(text, catalog, options));
  return Resolve(std::move(program), catalog, options);
}

}  // namespace weir
