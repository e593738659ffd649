#include "worker/flow/keyed/top_of_time.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "common/base/status.h"
#include "common/flow/record_rows.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/keyed/number_order.h"
#include "worker/flow/memory/will_need.h"

namespace weir {
namespace {

// Records that are there, with the sum of the weights of equal ones.
RecordBatch Present(const RecordBatch& all) {
  const RecordBatch merged = Consolidated(all);
  std::vector<int64_t> there;
  for (int64_t row = 0; row < merged.size(); ++row) {
    if (merged.weight(row) > 0) there.push_back(row);
  }
  return SelectRows(merged, there);
}

}  // namespace

TopOfTime::TopOfTime(const FlowVertex& vertex)
    : type_(vertex.input_types[0]),
      keys_(static_cast<int>(vertex.attr("keys").AsInt())),
      k_(vertex.attr("k").AsInt()),
      by_(static_cast<int>(vertex.attr("by").AsInt())),
      all_(EmptyBatch(type_)) {}

absl::Status TopOfTime::Begin(Inputs inputs) {
  WEIR_RETURN_IF_ERROR(CheckWhole(inputs[0], "the top of a key"));
  for (const RecordBatch& batch : inputs[0]) WillNeed(batch);
  all_ = ConcatBatches(inputs[0], type_);
  if (Weights(inputs[0]) == WeightsOf::kAny) all_ = Present(all_);
  KeyIndex index(RecordType(type_.begin(), type_.begin() + keys_));
  std::vector<uint32_t> groups;
  WEIR_RETURN_IF_ERROR(index.FindOrAdd(all_.columns, all_.size(), &groups));
  ends_.assign(index.limit(), 0);
  for (const uint32_t group : groups) ++ends_[group];
  int64_t begin = 0;
  for (int64_t& end : ends_) begin += std::exchange(end, begin);
  rows_.resize(groups.size());
  for (size_t row = 0; row < groups.size(); ++row) {
    rows_[ends_[groups[row]]++] = static_cast<int64_t>(row);
  }
  return absl::OkStatus();
}

absl::StatusOr<RecordBatch> TopOfTime::Next(int64_t most) {
  if (next_chosen_ == chosen_.rows.size()) {
    chosen_ = Chosen();
    next_chosen_ = 0;
    while (next_group_ < ends_.size() && static_cast<int64_t>(chosen_.rows.size()) < most) {
      int64_t* const begin = rows_.data() + (next_group_ == 0 ? 0 : ends_[next_group_ - 1]);
      Choose(begin, rows_.data() + ends_[next_group_]);
      ++next_group_;
    }
  }
  const auto rows = absl::MakeConstSpan(chosen_.rows).subspan(next_chosen_, most);
  const auto places = absl::MakeConstSpan(chosen_.places).subspan(next_chosen_, most);
  next_chosen_ += rows.size();
  RecordBatch batch = SelectRows(all_, rows);
  batch.weights = Tensor::FromSpan<int64_t>({static_cast<int64_t>(places.size())}, places);
  return batch;
}

void TopOfTime::Choose(int64_t* begin, int64_t* end) {
  const RecordRows content(all_);
  int64_t* const last = begin + std::min<int64_t>(k_, end - begin);
  VisitDType(type_[by_].dtype, [&]<class T>(TypeTag<T>) {
    const T* const numbers = all_.columns[by_].data<T>();
    const auto comes_first = [&](int64_t a, int64_t b) {
      if (IsAhead(numbers[a], numbers[b])) return true;
      if (IsAhead(numbers[b], numbers[a])) return false;
      const int order = content.Compare(a, content, b);
      return order != 0 ? order < 0 : all_.origin(a) < all_.origin(b);
    };
    std::nth_element(begin, last, end, comes_first);
    std::sort(begin, last, comes_first);
  });
  // All weights are above 0, so k rows fill k places at least.
  AddPlaces(begin, last);
}

// Equal records are next to one another, the one of the least origin first.
void TopOfTime::AddPlaces(const int64_t* begin, const int64_t* end) {
  const RecordRows content(all_);
  int64_t left = k_;
  while (begin != end && left > 0) {
    const int64_t first = *begin;
    int64_t places = 0;
    for (; begin != end && content.Equal(first, content, *begin); ++begin) {
      places += std::min(left - places, all_.weight(*begin));
    }
    chosen_.rows.push_back(first);
    chosen_.places.push_back(places);
    left -= places;
  }
}

int64_t TopOfTime::bytes() const {
  const size_t numbers =
      rows_.capacity() + ends_.capacity() + chosen_.rows.capacity() + chosen_.places.capacity();
  return HeldBytes(all_) + static_cast<int64_t>(numbers * sizeof(int64_t));
}

}  // namespace weir
