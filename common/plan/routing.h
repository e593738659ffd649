// Where the rows of a plan's values go: shared by the coordinator, which cuts feeds, and the
// workers, which cut what they make. Stateless except for RunShape; usable from any thread.
#ifndef WEIR_COMMON_PLAN_ROUTING_H_
#define WEIR_COMMON_PLAN_ROUTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/plan/plan_loops.h"
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

// Whether a step makes its outputs of its operands as they are.
bool IsCopy(v1::Step::Control control);

// Whether the value is an input. REQUIRES: the plan has it.
bool IsFeed(const v1::Plan& plan, uint32_t value);

// What a worker needs of a value that somebody else makes.
enum class Need { kNothing, kRows, kWhole };

// The plan with numbers in the place of symbols.
class RunShape {
 public:
  struct StepShape {
    v1::Step::Control control = v1::Step::CONTROL_NONE;
    bool sharded = false;
    int64_t extent = 0;
    // Of a CONTROL_WHOLE and the CONTROL_ENTER behind it: whether the loop runs whole.
    bool whole = false;
    // Where the run goes on: behind this step, or, from a CONTROL_TEST that is true, a
    // CONTROL_REPEAT or a CONTROL_ENTER of a loop that runs whole, elsewhere.
    int jump = 0;
    // Of a CONTROL_TEST: whether other workers answer what it tests.
    bool answered = false;
  };

  RunShape() = default;
  // Returns: INVALID_ARGUMENT for a plan whose indices, types or loops make no sense, or for
  // symbols without a value.
  static absl::StatusOr<RunShape> Make(const v1::Plan& plan, const SymbolBindings& symbols,
                                       int world);

  int world() const { return world_; }
  DType dtype(uint32_t value) const { return values_[value].dtype; }
  const Extents& extents(uint32_t value) const { return values_[value].extents; }
  // Whether a step runs on every worker: otherwise rank 0 does everything.
  bool is_shared() const { return is_shared_; }
  int num_steps() const { return static_cast<int>(steps_.size()); }
  const StepShape& step(int index) const { return steps_[index]; }
  bool RunsOn(int step, int rank) const;
  // The widest need of any step that runs on `rank`.
  Need NeedAt(int rank, uint32_t value) const { return values_[value].needs[rank == 0 ? 0 : 1]; }
  // The step after which nobody uses a value any more; for results one that is never reached.
  int last_use(uint32_t value) const { return values_[value].last_use; }
  // Whether nobody uses the value behind this use by a step, but for what it is made into anew.
  bool IsLastUse(uint32_t value, int step) const;
  // Whether a run may make the value more than once.
  bool IsMadeAgain(uint32_t value) const { return values_[value].made_again; }
  // Whether other workers answer this value by one of theirs.
  bool IsAnswered(uint32_t value) const { return values_[value].answered; }
  // Rows of axis 0 that `rank` holds of a split value, or takes of a value that it needs as rows.
  RowRange RowsOf(uint32_t value, int rank) const;

 private:
  struct ValueShape {
    DType dtype = DType::kF32;
    Extents extents;
    int last_use = -1;
    int made_at = -1;  // as PlanLoops
    bool made_again = false;
    bool answered = false;
    Need needs[2] = {Need::kNothing, Need::kNothing};  // on rank 0; on every other rank
  };

  explicit RunShape(int world) : world_(world) {}
  absl::Status AddValues(const v1::Plan& plan, const PlanLoops& loops,
                         const SymbolBindings& symbols);
  absl::Status AddStep(const v1::Plan& plan, const PlanLoops& loops, const SymbolBindings& symbols);
  absl::Status AddControl(const v1::Plan& plan, const PlanLoops& loops,
                          const SymbolBindings& symbols, StepShape* shape);
  absl::Status CheckCopies(const v1::Plan& plan, absl::Span<const uint32_t> from,
                           const v1::Step& step) const;
  // What a step uses that runs.
  void AddUses(const v1::Plan& plan, const PlanLoops& loops, int index);

  int world_ = 1;
  bool is_shared_ = false;
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
