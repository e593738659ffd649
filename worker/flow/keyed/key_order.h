// Records brought into an order by parts of their keys (KeyPartOf) before they meet state by key
// that is larger than the cache: tables, numbers and what lies behind them are then walked through
// part by part, where in the order of arrival each record would wait for memory. Stateless; usable
// from any thread.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_ORDER_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/key_hash.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/memory/will_need.h"

namespace weir {

// The rows of some batches part by part, else in the order in which they came, so that rows of one
// key keep theirs. Each batch is put in order by itself, within the cache; what comes out is put
// together from all of them. A value for one use.
class KeyOrder {
 public:
  // The first `keys` columns are the key. REQUIRES: all batches are of this type, which outlives
  // this.
  KeyOrder(std::vector<RecordBatch> batches, const RecordType& type, int keys);

  bool done() const { return part_ == kKeyParts; }
  // Some thousand rows of one part or of several. REQUIRES: not done.
  RecordBatch Next();

 private:
  struct Ordered {
    RecordBatch batch;
    std::array<uint32_t, kKeyParts + 1> begins;  // of its parts
  };

  static Ordered InOrder(RecordBatch batch, int keys);
  // Skips what is empty.
  void Seek();

  const RecordType& type_;
  std::vector<Ordered> batches_;
  size_t part_ = 0;  // of the next rows
  size_t next_ = 0;  // the batch that has them
};

// So many of the batches from `begin` on as are worth to be brought into order together for an
// index with so many keys; 0: none.
size_t WorthOrdering(const std::vector<RecordBatch>& batches, size_t begin, int64_t indexed_keys);

// Calls add(batch), which returns a status, until all rows were added, in an order that suits the
// index that they are added to.
template <class Add>
absl::Status AddInGoodOrder(std::vector<RecordBatch> batches, const RecordType& type, int keys,
                            const KeyIndex& index, Add add) {
  for (size_t at = 0; at < batches.size();) {
    const size_t count = WorthOrdering(batches, at, index.limit());
    if (count == 0) {
      WillNeed(batches[at]);
      WEIR_RETURN_IF_ERROR(add(batches[at]));
      batches[at++] = RecordBatch();
      continue;
    }
    std::vector<RecordBatch> some;
    for (; some.size() < count; ++at) {
      WillNeed(batches[at]);
      some.push_back(std::move(batches[at]));
    }
    KeyOrder order(std::move(some), type, keys);
    while (!order.done()) WEIR_RETURN_IF_ERROR(add(order.Next()));
  }
  return absl::OkStatus();
}

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_ORDER_H_
