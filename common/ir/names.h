// Chooses how the values of one function are written. Thread-compatible.
#ifndef WEIR_COMMON_IR_NAMES_H_
#define WEIR_COMMON_IR_NAMES_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/ir/graph.h"

namespace weir {

// A name that is taken already gets a suffix (`x_1`), no name a number; numbers are no names when
// read back. The arguments of a function keep any name, in quotes if need be, because callers feed
// by it; elsewhere what is no identifier is made one (`conv1/out` to `conv1_out`). All this gives
// the same when applied to what it gave.
class ValueNames {
 public:
  ValueNames(const Graph& graph, const Function& function);

  // `%x`; `%?` for a value of another function.
  std::string Text(ValueId value) const;
  // What `after(...)` names: the first output, else a label `!0`.
  std::string NodeText(NodeId node) const;
  // `!0`, or nothing for a node that needs no label.
  std::string Label(NodeId node) const;

 private:
  void Visit(RegionId region);
  void Choose(ValueId value);
  // Returns: the name, or with a suffix.
  std::string MakeUnique(std::string name);

  const Graph& graph_;
  RegionId body_;
  absl::flat_hash_map<ValueId, std::string> names_;
  absl::flat_hash_map<NodeId, int> labels_;
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> next_suffix_;
  int next_number_ = 0;
};

// Returns: how a name is written behind % or @: as it is, or in quotes.
std::string NameText(std::string_view name);
// True for a number, which reads back as no name.
bool IsAllDigits(std::string_view name);

}  // namespace weir

#endif  // WEIR_COMMON_IR_NAMES_H_
