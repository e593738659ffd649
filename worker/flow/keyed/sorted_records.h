// Records in the order of Sorted (record_batch.h), however many: sorted some at a time, which then
// lie on disk if they must, and merged as they are asked for. Owned by the state of a vertex;
// thread-compatible.
//
//   SortedRecords sorted(type);
//   sorted.Begin(std::move(batches));
//   while (!sorted.is_sorted()) WEIR_RETURN_IF_ERROR(sorted.SortSome());
//   while (!sorted.done()) Send(sorted.Next(64 * 1024));
#ifndef WEIR_WORKER_FLOW_KEYED_SORTED_RECORDS_H_
#define WEIR_WORKER_FLOW_KEYED_SORTED_RECORDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/flow/record_batch.h"
#include "common/flow/record_rows.h"
#include "worker/flow/memory/flow_memory.h"

namespace weir {

class SortedRecords {
 public:
  explicit SortedRecords(RecordType type) : type_(std::move(type)) {}

  // REQUIRES: done; no batch is empty.
  void Begin(std::vector<RecordBatch> batches);
  bool is_sorted() const { return batches_.empty(); }
  // Sorts about as much as one call should take (FlowShare::work_bytes), or all where nobody says
  // how much that is. Errors: ResourceExhausted, of the disk.
  absl::Status SortSome();
  bool done() const { return batches_.empty() && heap_.empty(); }
  // The next records, `most` if there are as many. REQUIRES: is_sorted().
  RecordBatch Next(int64_t most);
  // The same as Merged would have them: equal ones are one, with the sum of their weights, and what
  // sums to 0 is gone; so there may be none.
  RecordBatch NextMerged(int64_t most);
  // Of sorted records in memory.
  int64_t bytes() const;

 private:
  struct Run {
    RecordBatch batch;
    int64_t size = 0;
    int64_t next = 0;
    int64_t fetched = 0;  // rows that were asked for from the disk
    MemoryCharge charge;
  };
  // Rows [begin, end) of a run.
  struct Piece {
    size_t run;
    int64_t begin;
    int64_t end;
  };

  // Of the next row of a run and that of another: which comes first.
  bool Less(size_t a, int64_t a_row, size_t b, int64_t b_row) const;
  // Asks for the next rows of a run while some that it asked for are left.
  void Fetch(Run* run);
  // Takes rows of the least run until `most` or another one's turn.
  Piece TakePiece(int64_t most);
  std::vector<Piece> TakePieces(int64_t most);
  RecordBatch Give(const std::vector<Piece>& pieces);
  RecordBatch Gather(const std::vector<Piece>& pieces) const;
  void Push(size_t run);
  size_t Pop();
  void FreeRead(const std::vector<Piece>& pieces);

  const RecordType type_;
  std::vector<RecordBatch> batches_;  // not sorted yet, the last ones first
  std::vector<Run> runs_;
  int64_t open_runs_ = 0;     // of which some rows were taken, and some are left
  std::vector<size_t> heap_;  // runs that have rows left, the one with the least next row in front
  std::optional<RecordBatch> last_;  // one record that NextMerged took, as equal ones may follow
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_SORTED_RECORDS_H_
