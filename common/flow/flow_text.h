// The text form of flows: what users write, `weir explain` shows and the wire carries. Print,
// parse, print is a fixed point. Stateless; usable from any thread.
//
//   func @pair(%word: i64[]) -> (i64[], i64[]) {     // functions for one record, as in programs
//     %one = constant {value = i64[] {1}}
//     return %word, %one
//   }
//   flow @word_count {
//     loop @trips                                    // `loop @inner in @trips`: inside of another
//     %words = input() {types = ["i64[]"]}
//     %pairs = map(%words) {function = "pair"}
//     %counts = reduce_by_key(%pairs) {keys = 1, combine = "sum"} loc("count.py":3:1)
//     %out = output(%counts)
//   }
//
// A vertex reads `%a, %b = kind(%x, %y) {attr = value} loc("file":3:1)`; attributes and location
// may be missing. It stands for its outputs, and the name of the first is its own; one without
// outputs has a name too. Vertices may stand in any order. Functions stand before or behind the
// flow, of which there is one. Names and comments are as in programs (common/ir/text.h).
#ifndef WEIR_COMMON_FLOW_FLOW_TEXT_H_
#define WEIR_COMMON_FLOW_FLOW_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/ir/text.h"

namespace weir {

struct FlowParseOptions {
  // Of the functions; their file is that of the whole text.
  ParseOptions functions = {};
  int64_t max_vertices = 10'000;
  int64_t max_streams = 100'000;  // inputs of all vertices
  int64_t max_loops = 1'000;
  int max_loop_depth = 16;
};
// Parses and checks (CheckFlow). Returns: INVALID_ARGUMENT that starts with file:line:column (where
// a vertex has a location of its own, with that) and names what was found.
absl::StatusOr<Flow> ParseFlow(std::string_view text, const FlowParseOptions& options = {});

// Whether a text is meant to be a flow and not a program: `flow` stands outside of functions.
bool LooksLikeFlow(std::string_view text);

// REQUIRES: the flow is checked.
std::string PrintFlow(const Flow& flow, const PrintOptions& options = {});

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_FLOW_TEXT_H_
