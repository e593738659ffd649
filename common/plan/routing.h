// Where the rows of a plan's values go: shared by the coordinator, which cuts feeds, and the
// workers, which cut what they make. Stateless except for RunShape; usable from any thread.
#ifndef WEIR_COMMON_PLAN_ROUTING_H_
#define WEIR_COMMON_PLAN_ROUTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/shape.h"
#include "weir/v1/plan.pb.h"

namespace weir {

// Rows [begin, end) of axis 0, or iterations of a pfor.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(RowRange, RowRange) = default;
};

// The range of worker `rank` of `world`: consecutive, as equal as possible.
// REQUIRES: 0 <= rank < world, extent >= 0.
RowRange RangeOf(int64_t extent, int rank, int world);

// What a worker needs of a value that somebody else makes.
enum class Need { kNothing, kRows, kWhole };

// The plan with numbers in the place of symbols.
class RunShape {
 public:
  struct StepShape {
    bool sharded = false;
    int64_t extent = 0;
  };

  RunShape() = default;
  // Returns: INVALID_ARGUMENT for a plan whose indices or types make no sense, that reads what
  // nothing makes, or for symbols without a value.
  static absl::StatusOr<RunShape> Make(const v1::Plan& plan, const SymbolBindings& symbols,
                                       int world);

  int world() const { return world_; }
  DType dtype(uint32_t value) const { return values_[value].dtype; }
  const Extents& extents(uint32_t value) const { return values_[value].extents; }
  int num_steps() const { return static_cast<int>(steps_.size()); }
  const StepShape& step(int index) const { return steps_[index]; }
  bool RunsOn(int step, int rank) const { return steps_[step].sharded || rank == 0; }
  // The widest need of any step that runs on `rank`.
  Need NeedAt(int rank, uint32_t value) const { return values_[value].needs[rank == 0 ? 0 : 1]; }
  // The step after which nobody uses a value any more; for results one that is never reached.
  int last_use(uint32_t value) const { return values_[value].last_use; }
  // Rows of axis 0 that `rank` holds of a split value, or takes of a value that it needs as rows.
  RowRange RowsOf(uint32_t value, int rank) const;

 private:
  struct ValueShape {
    DType dtype = DType::kF32;
    Extents extents;
    int last_use = -1;
    Need needs[2] = {Need::kNothing, Need::kNothing};  // on rank 0; on every other rank
  };

  int world_ = 1;
  std::vector<ValueShape> values_;
  std::vector<StepShape> steps_;
};

// The shape of a program's last run: most runs repeat it. Thread-compatible.
class LastRunShape {
 public:
  // Returns: as RunShape::Make.
  absl::StatusOr<std::shared_ptr<const RunShape>> For(const v1::Plan& plan,
                                                      const SymbolBindings& symbols, int world);

 private:
  std::shared_ptr<const RunShape> shape_;
  SymbolBindings symbols_;
};

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_ROUTING_H_
