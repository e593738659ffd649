// Checks one vertex of a flow whose others were checked before: flows that grow vertex by vertex
// are checked as they grow, at the cost of what is new. Whatever these refuse, CheckFlow (flow.h)
// says precisely; what they take, CheckFlow takes. Stateless; thread-compatible.
#ifndef WEIR_COMMON_FLOW_CHECK_VERTEX_H_
#define WEIR_COMMON_FLOW_CHECK_VERTEX_H_

#include "absl/status/status.h"
#include "common/flow/flow.h"

namespace weir {

// Checks the last vertex, which nothing reads, and fills in what follows for it. REQUIRES: all
// others are checked, and none of them has its name. Errors: InvalidArgument.
absl::Status CheckLastVertex(Flow* flow);
// The same of one whose only input is to come: from this scope, with records of this type.
absl::Status CheckOpenVertex(Flow* flow, ScopeId scope, const RecordType& type);
// Checks a vertex again whose inputs and attributes have changed; what it gives stays as it was.
absl::Status CheckVertexAgain(Flow* flow, VertexId vertex);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_CHECK_VERTEX_H_
