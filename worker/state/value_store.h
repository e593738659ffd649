// The values of variables that this worker owns, by their numbers. A value is put together from the
// rows that workers send, or put in as it is; then it never changes, and lies dense in memory that
// is hardly larger. Shared by the worker's core and by who runs programs on his own thread
// (worker/dataflow/direct_run.h); thread-safe.
#ifndef WEIR_WORKER_STATE_VALUE_STORE_H_
#define WEIR_WORKER_STATE_VALUE_STORE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace weir {

class ValueStore {
 public:
  // Takes a whole value. REQUIRES: nobody who may write has its memory.
  void Put(uint64_t id, const Tensor& value);
  // Returns: nothing for a value that is not there or not whole.
  std::optional<Tensor> Get(uint64_t id) const;
  // Says of what type the rows of a value are. Numbers rise, so that rows which come late for one
  // that was dropped are known. Returns: as AddRows, for rows that came before.
  absl::StatusOr<bool> Expect(uint64_t id, DType dtype, Extents extents);
  // Rows [first_row, ...) of an expected value, or a scalar. They may come before Expect. Returns:
  // whether the value is whole now; INVALID_ARGUMENT for rows that do not belong there.
  absl::StatusOr<bool> AddRows(uint64_t id, int64_t first_row, Tensor rows);
  // Of a value that is expected or there, or neither.
  void Drop(uint64_t id);
  void Clear();

  bool empty() const;
  int64_t bytes() const;  // of whole values
  // Values of which rows are here, but that are not expected yet.
  size_t awaited() const;

 private:
  struct Expected {
    DType dtype = DType::kF32;
    Extents extents;
    Tensor value;  // without memory until the first rows of several come
    int64_t arrived = 0;
  };
  using Early = std::vector<std::pair<int64_t, Tensor>>;

  absl::StatusOr<bool> Add(uint64_t id, int64_t first_row, Tensor rows);
  void Keep(uint64_t id, Tensor value);

  mutable std::mutex mutex_;
  absl::flat_hash_map<uint64_t, Tensor> values_;
  int64_t bytes_ = 0;
  std::map<uint64_t, Expected> expected_;
  std::map<uint64_t, Early> early_;
  uint64_t last_expected_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_STATE_VALUE_STORE_H_
