#include "worker/flow/keyed/grouped_state.h"

namespace weir {

// reduce_by_key and count.
std::unique_ptr<Vertex> MakeReduceByKeyVertex(const VertexSetup& setup) {
  const FlowVertex& form = setup.vertex();
  std::shared_ptr<const RecordFunction> function;
  if (form.FindAttr("function") != nullptr) function = setup.functions.at("function");
  return std::make_unique<KeyedVertex>(setup, [&form, function = std::move(function)] {
    const int keys = static_cast<int>(form.attr("keys").AsInt());
    return std::make_unique<GroupedState>(form, keys, [&form, function](TakesBack takes_back) {
      return MakeCombiner(form, takes_back, function);
    });
  });
}

// The whole record is the key.
std::unique_ptr<Vertex> MakeDistinctVertex(const VertexSetup& setup) {
  const FlowVertex& form = setup.vertex();
  return std::make_unique<KeyedVertex>(setup, [&form] {
    const int keys = static_cast<int>(form.input_types[0].size());
    return std::make_unique<GroupedState>(form, keys, [](TakesBack) { return MakePresence(); });
  });
}

}  // namespace weir
