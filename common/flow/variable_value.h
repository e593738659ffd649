// What definition, oracle and worker share of the kind `variable`: what is in its columns. REQUIRES
// of all: the vertex is of that kind. Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_VARIABLE_VALUE_H_
#define WEIR_COMMON_FLOW_VARIABLE_VALUE_H_

#include "common/flow/flow.h"

namespace weir {

// Whether `init` has no parameters; else they are the columns of a key. REQUIRES: the functions are
// there. Returns: false where it is missing.
bool InitTakesNothing(const Flow& flow, const FlowVertex& vertex);

// What follows holds for a flow that is checked.
// The columns of a value: those that come out behind what has read it.
RecordType ValueOf(const FlowVertex& vertex);
// Whether it acts on arrival.
bool IsRelaxed(const FlowVertex& vertex);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_VARIABLE_VALUE_H_
