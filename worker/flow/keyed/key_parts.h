// The records of a time cut by key into parts that fit into memory one at a time: what a vertex
// makes of a time that stands for itself is, key by key, the same. A part that is too large is cut
// again when its turn comes. Owned by a KeyedVertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_PARTS_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_PARTS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/flow/flow.h"
#include "worker/flow/keyed/kept_records.h"

namespace weir {

class KeyParts {
 public:
  // Whether the keys of all inputs are known, and not only one.
  static bool CanCut(const FlowVertex& vertex);

  // `all`: the records by input, of `total_bytes`, of which parts shall have about `part_bytes`.
  // REQUIRES: CanCut(vertex), which outlives this.
  KeyParts(const FlowVertex& vertex, std::vector<KeptRecords> all, int64_t total_bytes,
           int64_t part_bytes)
      : KeyParts(vertex, std::move(all), total_bytes, part_bytes, 0) {}

  bool is_cut() const;
  // Brings some more records, about `most_bytes`, to their parts. Errors: ResourceExhausted.
  absl::Status CutSome(int64_t most_bytes);
  // The next part that has records, by input; nothing after the last one, or if it has to be cut
  // first. REQUIRES: is_cut(). Errors: ResourceExhausted, of the disk.
  absl::StatusOr<std::vector<std::vector<RecordBatch>>> TakeNext();
  // Whether the last part was taken.
  bool done() const { return inner_ == nullptr && next_ == parts_.size(); }

  int64_t bytes() const;
  int64_t spilled_bytes() const;

 private:
  // `level`: how often the records were cut before.
  KeyParts(const FlowVertex& vertex, std::vector<KeptRecords> all, int64_t total_bytes,
           int64_t part_bytes, int level);

  bool IsWorthCutting(int64_t bytes) const;
  absl::Status Cut(int input, const RecordBatch& batch);
  absl::StatusOr<std::vector<RecordBatch>> TakeAll(int input, KeptRecords* records) const;

  const FlowVertex& vertex_;
  const int64_t total_bytes_;
  const int64_t part_bytes_;
  const int level_;
  std::vector<KeptRecords> left_;                // by input
  std::vector<std::vector<KeptRecords>> parts_;  // by part and input
  size_t next_ = 0;
  std::unique_ptr<KeyParts> inner_;  // of the part before, while some of it is left
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_PARTS_H_
