// From a program for one example to a program for many: `--map` on the command line. Stateless.
#ifndef WEIR_SERVER_COMPILER_MAP_H_
#define WEIR_SERVER_COMPILER_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"

namespace weir {

// Wraps the entry function in a pfor over a new leading axis of the inputs in `map`; the other
// inputs are shared by all iterations. Results gain the same leading axis. With an empty `map` the
// program stays as it is. Returns: INVALID_ARGUMENT for a name that is no input (the inputs are
// listed) or that is given twice.
absl::StatusOr<Graph> MapOver(Graph program, const std::vector<std::string>& map);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_MAP_H_
