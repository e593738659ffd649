#include "common/flow/variable_value.h"

namespace weir {

bool InitTakesNothing(const Flow& flow, const FlowVertex& vertex) {
  const Graph* graph = flow.functions.get();
  if (graph == nullptr) return false;
  const Function* init = graph->FindFunction(vertex.attr("init").AsString());
  return init != nullptr && graph->region(init->body).args.empty();
}

RecordType ValueOf(const FlowVertex& vertex) {
  const RecordType& read = vertex.output_types[0];
  return RecordType(read.begin() + static_cast<int64_t>(vertex.input_types[0].size()), read.end());
}

bool IsRelaxed(const FlowVertex& vertex) { return vertex.StringOr("order", "time") == "relaxed"; }

}  // namespace weir
