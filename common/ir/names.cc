#include "common/ir/names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/str_cat.h"
#include "common/ir/lexer.h"

namespace weir {

bool IsAllDigits(std::string_view name) {
  return std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
}

std::string NameText(std::string_view name) {
  const bool plain = !IsAllDigits(name) && std::all_of(name.begin(), name.end(), IsNameCharacter);
  return plain ? std::string(name) : Quote(name);
}

ValueNames::ValueNames(const Graph& graph, const Function& function)
    : graph_(graph), body_(function.body) {
  Visit(function.body);
}

void ValueNames::Visit(RegionId id) {
  const Region& region = graph_.region(id);
  for (ValueId arg : region.args) Choose(arg);
  for (NodeId node_id : region.nodes) {
    const Node& node = graph_.node(node_id);
    for (NodeId before : node.control_inputs) {
      if (!graph_.node(before).outputs.empty()) continue;
      labels_.try_emplace(before, static_cast<int>(labels_.size()));
    }
    for (ValueId output : node.outputs) Choose(output);
    for (RegionId inner : node.regions) Visit(inner);
  }
}

void ValueNames::Choose(ValueId id) {
  const Value& value = graph_.value(id);
  std::string name = value.name;
  const bool is_function_argument = value.region == body_ && !value.producer.valid();
  if (!is_function_argument) {
    for (char& c : name) {
      if (!IsNameCharacter(c)) c = '_';
    }
  }
  const bool numbered = name.empty() || (!is_function_argument && IsAllDigits(name));
  names_[id] = numbered ? StrCat(next_number_++) : NameText(MakeUnique(std::move(name)));
}

std::string ValueNames::MakeUnique(std::string name) {
  if (taken_.insert(name).second) return name;
  int& suffix = next_suffix_[name];
  std::string candidate;
  do {
    candidate = StrCat(name, "_", ++suffix);
  } while (!taken_.insert(candidate).second);
  return candidate;
}

std::string ValueNames::Text(ValueId value) const {
  auto it = names_.find(value);
  return it == names_.end() ? "%?" : StrCat("%", it->second);
}

std::string ValueNames::NodeText(NodeId node) const {
  const std::vector<ValueId>& outputs = graph_.node(node).outputs;
  return outputs.empty() ? Label(node) : Text(outputs[0]);
}

std::string ValueNames::Label(NodeId node) const {
  auto it = labels_.find(node);
  return it == labels_.end() ? "" : StrCat("!", it->second);
}

}  // namespace weir
