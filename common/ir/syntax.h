// The syntax tree of the text form, between the parser and name resolution. Owned by Parse;
// thread-compatible.
#ifndef WEIR_COMMON_IR_SYNTAX_H_
#define WEIR_COMMON_IR_SYNTAX_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ir/lexer.h"
#include "common/ir/op_catalog.h"
#include "common/ir/text.h"

namespace weir {

struct NodeSyntax;

// Where a name is introduced. The name carries its kind in front: "%x", "#7" for an unnamed %7,
// "!0" for a label.
struct DefinitionSyntax {
  std::string name;
  Position position;
  ValueId value;  // set by the resolver once the value is in the graph
};

struct UseSyntax {
  std::string name;
  Position position;
  const DefinitionSyntax* value = nullptr;  // set by the resolver
  const NodeSyntax* node = nullptr;         // set by the resolver for `after(...)`
};

struct RegionSyntax {
  std::vector<DefinitionSyntax> args;
  std::vector<TensorType> arg_types;
  std::vector<NodeSyntax> nodes;
  std::vector<UseSyntax> results;
  Position end;            // of `yield` or `return`
  std::vector<int> order;  // of the nodes; set by the resolver
};

struct NodeSyntax {
  Position position;
  std::vector<DefinitionSyntax> outputs;
  std::vector<DefinitionSyntax> label;  // none or one
  std::string op;
  std::vector<UseSyntax> inputs;
  Attrs attrs;
  std::vector<RegionSyntax> regions;
  std::vector<UseSyntax> control_inputs;
  std::string name;
  Location location;
  std::vector<TensorType> types;
  bool has_types = false;
  NodeId id;  // set by the resolver
};

struct FunctionSyntax {
  Position position;
  std::string name;
  RegionSyntax body;
  std::vector<TensorType> result_types;
  std::vector<std::string> result_names;
};

using ProgramSyntax = std::vector<FunctionSyntax>;

// Returns: the tree, which holds no view of the text.
absl::StatusOr<ProgramSyntax> ParseSyntax(std::string_view text, const OpCatalog& catalog,
                                          const ParseOptions& options);

// The same for functions among other things: takes functions from the lexer's token on, which is
// `func`, as long as one follows another.
absl::StatusOr<ProgramSyntax> ParseFunctions(Lexer* lexer, const OpCatalog& catalog,
                                             const ParseOptions& options);

// Points every use to its definition and orders the nodes of every region. Names are visible in
// their region and the regions inside it, whatever the order of the text.
absl::Status BindNames(FunctionSyntax* function, const ParseOptions& options);

// Makes the graph: binds names, adds the nodes in order, infers types where they are left out and
// checks them where they are written.
absl::StatusOr<Graph> Resolve(ProgramSyntax program, const OpCatalog& catalog,
                              const ParseOptions& options);

// How the user wrote a name of a definition or a use.
std::string WrittenName(std::string_view name);
// Reads `"model.py":3:1`, what stands in the brackets of `loc(...)`.
absl::StatusOr<Location> ParseLocationText(Lexer* lexer);
// The file of positions: that of the options, or kAnonymousFile.
const std::string& FileName(const ParseOptions& options);
// Returns: `file:line:column: message`.
absl::Status SyntaxError(const ParseOptions& options, Position position, std::string_view message);

}  // namespace weir

#endif  // WEIR_COMMON_IR_SYNTAX_H_
