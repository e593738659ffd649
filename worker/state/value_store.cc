#include "worker/state/value_store.h"

#include <algorithm>

#include "common/base/aligned_memory.h"
#include "common/base/status.h"

namespace weir {
namespace {

using Lock = std::lock_guard<std::mutex>;

Tensor Compact(const Tensor& tensor) {
  const bool is_small_part =
      tensor.buffer() != nullptr &&
      tensor.buffer()->size() / 2 > static_cast<size_t>(tensor.num_bytes()) + kMemoryAlignment;
  return is_small_part ? tensor.Clone() : tensor.Contiguous();
}

}  // namespace

void ValueStore::Keep(uint64_t id, Tensor value) {
  bytes_ += value.num_bytes();
  values_.insert_or_assign(id, std::move(value));
}

void ValueStore::Put(uint64_t id, const Tensor& value) {
  Tensor kept = Compact(value);
  Lock lock(mutex_);
  Keep(id, std::move(kept));
}

std::optional<Tensor> ValueStore::Get(uint64_t id) const {
  Lock lock(mutex_);
  const auto found = values_.find(id);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<bool> ValueStore::Expect(uint64_t id, DType dtype, Extents extents) {
  Lock lock(mutex_);
  last_expected_ = std::max(last_expected_, id);
  expected_[id] = {.dtype = dtype, .extents = std::move(extents)};
  auto early = early_.extract(id);
  // What waits for an earlier number was dropped before it came.
  early_.erase(early_.begin(), early_.lower_bound(id));
  if (early.empty()) return false;
  bool whole = false;
  for (auto& [first_row, rows] : early.mapped()) {
    if (whole) return InvalidArgument("more rows than value ", id, " has came for it");
    WEIR_ASSIGN_OR_RETURN(whole, Add(id, first_row, std::move(rows)));
  }
  return whole;
}

absl::StatusOr<bool> ValueStore::AddRows(uint64_t id, int64_t first_row, Tensor rows) {
  Lock lock(mutex_);
  if (expected_.contains(id)) return Add(id, first_row, std::move(rows));
  if (id > last_expected_) early_[id].emplace_back(first_row, std::move(rows));
  return false;
}

absl::StatusOr<bool> ValueStore::Add(uint64_t id, int64_t first_row, Tensor rows) {
  Expected& expected = expected_.at(id);
  const Extents& extents = expected.extents;
  Extents wanted = extents;
  if (rows.rank() > 0 && !wanted.empty()) wanted[0] = rows.extent(0);
  const int64_t count = extents.empty() ? 1 : wanted[0];
  const int64_t all = extents.empty() ? 1 : extents[0];
  if (rows.dtype() != expected.dtype || rows.extents() != wanted || first_row < 0 ||
      count > all - first_row || count > all - expected.arrived) {
    return InvalidArgument("rows from ", first_row, " on, ", rows.type().ToString(), ", came for ",
                           DTypeName(expected.dtype), ExtentsToString(extents), ", of which ",
                           expected.arrived, " were there");
  }
  expected.arrived += count;
  if (count == all) {
    expected.value = Compact(rows);
  } else {
    if (expected.value.buffer() == nullptr) {
      WEIR_ASSIGN_OR_RETURN(expected.value, Tensor::TryCreate(expected.dtype, extents));
    }
    if (rows.num_bytes() > 0) {
      rows.CopyTo(expected.value.raw_mutable_data() + first_row * (rows.num_bytes() / count));
    }
  }
  if (expected.arrived < all) return false;
  Keep(id, std::move(expected.value));
  expected_.erase(id);
  return true;
}

void ValueStore::Drop(uint64_t id) {
  Tensor old;  // its memory is given back without the lock
  Lock lock(mutex_);
  expected_.erase(id);
  const auto found = values_.find(id);
  if (found == values_.end()) return;
  old = std::move(found->second);
  bytes_ -= old.num_bytes();
  values_.erase(found);
}

void ValueStore::Clear() {
  Lock lock(mutex_);
  values_.clear();
  bytes_ = 0;
  expected_.clear();
  early_.clear();
  last_expected_ = 0;
}

bool ValueStore::empty() const {
  Lock lock(mutex_);
  return values_.empty() && expected_.empty();
}

size_t ValueStore::awaited() const {
  Lock lock(mutex_);
  return early_.size();
}

int64_t ValueStore::bytes() const {
  Lock lock(mutex_);
  return bytes_;
}

}  // namespace weir
