// The variables of a program that runs as it is written, as one iteration of the pfors around
// sees them: what an iteration writes is its own until all iterations of its pfor meet. Owned by
// one run; thread-compatible.
#ifndef WEIR_COMMON_INTERP_VARIABLES_H_
#define WEIR_COMMON_INTERP_VARIABLES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/graph.h"
#include "common/tensor/tensor.h"

namespace weir {

class Variables {
 public:
  using Values = std::map<std::string, Tensor, std::less<>>;
  using Names = std::set<std::string, std::less<>>;

  // Of a program; null: it has none.
  explicit Variables(Values* values) : values_(values) {}
  // Of an iteration; it accesses the variables of these names like what is around its loop.
  // REQUIRES: both outlive this.
  Variables(Variables* around, const Names* in_order) : around_(around), in_order_(in_order) {}
  Variables(Variables&&) = default;

  // What a node that reads or writes a variable accesses; null if there is no such variable.
  Tensor* For(const Node& node);

  // What the iterations of a pfor wrote, as one: by the kind of their updates or the mode of their
  // assignments. Iteration i wrote written[i], null: nothing.
  struct Written {
    Tensor value;
    std::string op;    // update_variable or assign_variable
    std::string kind;  // or mode
  };
  const std::map<std::string, Written>& written() const { return written_; }
  static absl::StatusOr<Written> Meet(const std::vector<const Written*>& written);
  // `before` and behind it `next`, of the same op and kind.
  static absl::StatusOr<Tensor> Then(const Tensor& before, const Written& next);
  // Does that once.
  absl::Status Write(const std::string& name, const Written& met);

 private:
  // Where an access goes.
  Variables* Home(std::string_view name);
  const Tensor& Outermost(std::string_view name) const;

  Values* values_ = nullptr;
  Variables* around_ = nullptr;
  const Names* in_order_ = nullptr;
  std::map<std::string, Written> written_;
};

// A reduction (iteration_reduce kind) of the rows that some iterations give; null: none. Returns:
// T[...]; for the kind gather T[n, ...] with zeros for those. REQUIRES: one gives a row.
absl::StatusOr<Tensor> ReduceRowsOf(const std::string& kind,
                                    const std::vector<const Tensor*>& rows);

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_VARIABLES_H_
