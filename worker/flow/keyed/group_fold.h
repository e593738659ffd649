// A function that takes the records of each group one after the other into the group's row: row =
// f(row, record), for many groups at once. The k-th records of all groups are one call, the longest
// group first, so that those that are done are the last rows. Owned by the state of a vertex;
// thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_GROUP_FOLD_H_
#define WEIR_WORKER_FLOW_KEYED_GROUP_FOLD_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "common/flow/record_function.h"
#include "worker/flow/keyed/row_table.h"

namespace weir {

class GroupFold {
 public:
  // The records of one group in their order: rows [begin, end) of a list.
  struct Part {
    uint32_t group = 0;
    int64_t begin = 0;
    int64_t end = 0;

    int64_t size() const { return end - begin; }
  };
  // Rows of a batch, group by group, each as often as its weight says.
  struct Parts {
    std::vector<int64_t> rows;
    std::vector<Part> parts;  // of each group that has rows, in any order
  };

  // From the columns of a row and those of a record to those of the row.
  explicit GroupFold(std::shared_ptr<const RecordFunction> function)
      : function_(std::move(function)) {}

  // Groups below this number may have records from here on.
  void Resize(int64_t groups) { next_.resize(groups); }

  // groups[i] is the group of row i; groups keep the order of their rows. Takes as long as there
  // are records, however many groups there are. Errors: a weight below zero or above kMaxRepeats.
  absl::StatusOr<Parts> Split(const RecordBatch& batch, absl::Span<const uint32_t> groups);
  // Takes the rows of `records` into those of `table`. Errors: those of the function.
  absl::Status Fold(absl::Span<const Tensor> records, Parts parts, RowTable* table) const;

  int64_t bytes() const { return static_cast<int64_t>(next_.capacity() * sizeof(int64_t)); }

 private:
  absl::Status FoldTogether(absl::Span<const Tensor> records, const std::vector<int64_t>& rows,
                            absl::Span<const Part> parts, RowTable* table) const;

  const std::shared_ptr<const RecordFunction> function_;
  std::vector<int64_t> next_;  // by group; 0 but within Split
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_GROUP_FOLD_H_
