// The pass `recursion`: functions that call themselves, alone or in turn, become loops over a
// program counter, so that a pfor around them batches its iterations whatever depth each is at.
// Stateless.
//
// The method is that of Radul, Patton, Maclaurin, Hoffman, Saurous, "Automatically Batching
// Control-Intensive Programs for Modern Accelerators", MLSys 2020.
#ifndef WEIR_SERVER_COMPILER_RECURSION_RECURSION_H_
#define WEIR_SERVER_COMPILER_RECURSION_RECURSION_H_

#include "absl/status/status.h"
#include "server/compiler/pass.h"

namespace weir {

// The body of each recursive function that is the entry or is called from outside of its set
// becomes a loop; the other functions of the set go. Returns: UNIMPLEMENTED naming function and
// call for what has no such form: a recursive call inside of a pfor of the function, sizes that
// change from call to call or are known only from data.
absl::Status LowerRecursion(Graph* graph, const CompileOptions& options, CompileReport* report);

}  // namespace weir

#endif  // WEIR_SERVER_COMPILER_RECURSION_RECURSION_H_
