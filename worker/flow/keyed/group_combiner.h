// What becomes of the values of groups of records: the part in which reduce_by_key, count and
// distinct differ. Groups are numbers from 0 on. Owned by a GroupedState; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_GROUP_COMBINER_H_
#define WEIR_WORKER_FLOW_KEYED_GROUP_COMBINER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/flow/flow.h"
#include "common/flow/record_batch.h"
#include "common/flow/record_function.h"

namespace weir {

class GroupCombiner {
 public:
  virtual ~GroupCombiner() = default;

  // Whether records must come in order, merged (MergeRecords).
  virtual bool needs_order() const = 0;
  // Groups below this number may have records from here on.
  virtual void Resize(int64_t groups) = 0;
  // groups[i] is the group of row i.
  virtual absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) = 0;
  // Whether a group whose weights have this sum has a result.
  virtual bool IsThere(uint32_t group, int64_t weight) const { return weight != 0; }
  // The columns of the results; of groups that have none, anything. weights: the sums.
  virtual std::vector<Tensor> Results(absl::Span<const uint32_t> groups,
                                      absl::Span<const int64_t> weights) = 0;
  // Makes a group as if no record had come, if what it has makes no difference. Returns: whether it
  // did. REQUIRES: its weights sum to 0.
  virtual bool Forget(uint32_t group) = 0;
  virtual int64_t bytes() const = 0;
};

// Whether records may be taken back.
enum class TakesBack { kNo, kYes };

// For vertices of the kinds reduce_by_key and count; `function` is that of the former, if it has
// one.
std::unique_ptr<GroupCombiner> MakeCombiner(const FlowVertex& vertex, TakesBack takes_back,
                                            std::shared_ptr<const RecordFunction> function);
// Of groups that only are there or not: while weights sum to more than 0.
std::unique_ptr<GroupCombiner> MakePresence();

// The forms behind MakeCombiner. `keys`: so many columns of a record are no values.
// sum, mean, count, and min and max where nothing is taken back: an accumulator for each column.
std::unique_ptr<GroupCombiner> MakeColumnsCombiner(const FlowVertex& vertex);
// min and max of what is left.
std::unique_ptr<GroupCombiner> MakeCountedExtremes(const FlowVertex& vertex);
// By a function.
std::unique_ptr<GroupCombiner> MakeFold(const FlowVertex& vertex,
                                        std::shared_ptr<const RecordFunction> function);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_GROUP_COMBINER_H_
