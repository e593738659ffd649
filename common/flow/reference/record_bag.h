// Records as the oracle sees them: bytes, in maps. Thread-compatible.
#ifndef WEIR_COMMON_FLOW_REFERENCE_RECORD_BAG_H_
#define WEIR_COMMON_FLOW_REFERENCE_RECORD_BAG_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/record_batch.h"
#include "common/ops/scalar/integer.h"

namespace weir {

// The bytes of each column of one record. The order is that of RecordRows::Compare.
using RecordBytes = std::vector<std::string>;

RecordBytes FirstColumns(const RecordBytes& record, int64_t columns);
RecordBytes WithoutFirst(const RecordBytes& record, int64_t columns);
RecordBytes Joined(RecordBytes first, const RecordBytes& second);

// The records of one place and time: for each origin and content the sum of the weights, if it is
// not 0. In order: by origin, then by content.
class RecordBag {
 public:
  struct Key {
    int64_t origin = 0;
    RecordBytes record;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  auto begin() const { return weights_.begin(); }
  auto end() const { return weights_.end(); }
  bool empty() const { return weights_.empty(); }
  int64_t size() const { return static_cast<int64_t>(weights_.size()); }

  void Add(int64_t origin, const RecordBytes& record, int64_t weight) {
    const auto at = weights_.try_emplace({origin, record}, 0).first;
    at->second = scalar::Add(at->second, weight);
    if (at->second == 0) weights_.erase(at);
  }
  void AddAll(const RecordBag& other) {
    for (const auto& [key, weight] : other) Add(key.origin, key.record, weight);
  }

 private:
  std::map<Key, int64_t> weights_;
};

// REQUIRES: the batch is of this type.
RecordBag BagOf(const RecordBatch& batch);
// In order, with weights.
RecordBatch BatchOf(const RecordBag& bag, const RecordType& type);
// One tensor for each column, with a leading axis of records.
std::vector<Tensor> ColumnsOf(const std::vector<RecordBytes>& records, const RecordType& type);
// Row `row` of each tensor.
RecordBytes RecordOf(const std::vector<Tensor>& columns, int64_t row);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_REFERENCE_RECORD_BAG_H_
