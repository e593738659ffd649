#include "common/flow/flow.h"

#include <utility>

namespace weir {

const Attr* FlowVertex::FindAttr(std::string_view attr_name) const {
  const auto found = attrs.find(attr_name);
  return found == attrs.end() ? nullptr : &found->second;
}

int64_t FlowVertex::IntOr(std::string_view attr_name, int64_t otherwise) const {
  const Attr* found = FindAttr(attr_name);
  return found == nullptr ? otherwise : found->AsInt();
}

std::string FlowVertex::StringOr(std::string_view attr_name, std::string_view otherwise) const {
  const Attr* found = FindAttr(attr_name);
  return found == nullptr ? std::string(otherwise) : found->AsString();
}

VertexId Flow::FindVertex(std::string_view vertex_name) const {
  for (size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].name == vertex_name) return VertexId(static_cast<int64_t>(i));
  }
  return VertexId();
}

std::vector<Port> Flow::Readers(FlowPort output) const {
  std::vector<Port> readers;
  for (size_t v = 0; v < vertices.size(); ++v) {
    for (size_t i = 0; i < vertices[v].inputs.size(); ++i) {
      if (vertices[v].inputs[i] != output) continue;
      readers.push_back({VertexId(static_cast<int64_t>(v)), static_cast<int>(i)});
    }
  }
  return readers;
}

int Flow::DepthOf(ScopeId scope) const {
  int depth = 0;
  for (; scope != LogicalGraph::kRoot; scope = loops[scope.value() - 1].parent) ++depth;
  return depth;
}

}  // namespace weir
