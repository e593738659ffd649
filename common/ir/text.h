// The text form of programs: what tests, `weir explain`, bug reports and the wire use. Print,
// parse, print is a fixed point. Stateless; usable from any thread.
//
//   func @main(%image: f32[n,1,8,8]) -> (f32[n,10] "logits") {
//     %w = constant {value = f32[2] {1, 2}} : f32[2]
//     %out = pfor {extent = (n)} (%i: i64[]) {
//       ...
//       yield %logits
//     } : f32[n,10]
//     return %out
//   }
//
// A node reads `%a, %b = op(%x, %y) {attr = value} (region arguments) { nodes } after(%c)
// name("conv1") loc("model.py":3:1) : type, type`; everything but op and types may be missing.
// Nodes of a region may stand in any order as long as there is no cycle. Comments run from `//` to
// the end of the line. Result types may be left out (`: type`); they are inferred then. A node with
// neither outputs nor a value to name it by takes a label: `!0 = op(...)`, `after(!0)`. Names in
// quotes (`%"input:0"`) may have any characters; a number is no name.
#ifndef WEIR_COMMON_IR_TEXT_H_
#define WEIR_COMMON_IR_TEXT_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/ir/op_catalog.h"

namespace weir {

// The file of locations in a text that came without a name. Such locations are not printed, so that
// a graph without locations prints, parses and prints the same.
inline constexpr char kAnonymousFile[] = "<text>";

struct PrintOptions {
  // Called for each constant of more than `inline_elements` elements; a non-empty result is printed
  // as `blob "result"` in place of the bytes.
  std::function<std::string(const Tensor&)> blob_name;
  int64_t inline_elements = 64;
};
std::string Print(const Graph& graph, const PrintOptions& options = {});

struct ParseOptions {
  // Used as the file of node locations that the text does not give, and in errors.
  std::string file = kAnonymousFile;
  // Finds the tensor for `blob "name"`.
  std::function<absl::StatusOr<Tensor>(std::string_view name)> find_blob;
  int max_region_depth = 64;
  int64_t max_nodes = 1'000'000;
};
// Parses and verifies. Returns: INVALID_ARGUMENT that starts with file:line:column and names what
// was found, or the cycle.
absl::StatusOr<Graph> Parse(std::string_view text, const OpCatalog& catalog,
                            const ParseOptions& options = {});

// `f32[2] {1, 2}`; floats print so that they read back with equal bits.
std::string PrintTensor(const Tensor& tensor);

}  // namespace weir

#endif  // WEIR_COMMON_IR_TEXT_H_
