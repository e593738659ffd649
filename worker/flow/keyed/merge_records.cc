#include "worker/flow/keyed/merge_records.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/flow/record_rows.h"
#include "common/ops/scalar/integer.h"
#include "worker/flow/memory/will_need.h"

namespace weir {
namespace {

struct Place {
  int64_t origin;
  int64_t row;
};

bool Ascends(const Tensor& origins) {
  const int64_t* origin = origins.data<int64_t>();
  return std::adjacent_find(origin, origin + origins.extent(0), [](int64_t a, int64_t b) {
           return a >= b;
         }) == origin + origins.extent(0);
}

// By origin; those of one origin stay as they are. Sorted by some bits at a time, from the lowest.
void SortByOrigin(std::vector<Place>* places) {
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1 << kBits) - 1;
  const auto [least, most] =
      std::minmax_element(places->begin(), places->end(),
                          [](const Place& a, const Place& b) { return a.origin < b.origin; });
  const auto base = static_cast<uint64_t>(least->origin);
  const uint64_t range = static_cast<uint64_t>(most->origin) - base;
  std::vector<Place> sorted(places->size());
  for (int shift = 0; shift < 64 && (range >> shift) != 0; shift += kBits) {
    const auto digit = [&](const Place& place) {
      return ((static_cast<uint64_t>(place.origin) - base) >> shift) & kMask;
    };
    size_t next[kMask + 1] = {};
    for (const Place& place : *places) ++next[digit(place)];
    size_t begin = 0;
    for (size_t& count : next) begin += std::exchange(count, begin);
    for (const Place& place : *places) sorted[next[digit(place)]++] = place;
    places->swap(sorted);
  }
}

// All rows by origin.
std::vector<Place> PlacesOf(const RecordBatch& batch) {
  constexpr int64_t kFew = 2048;
  std::vector<Place> places(batch.size());
  for (int64_t row = 0; row < batch.size(); ++row) places[row] = {batch.origin(row), row};
  if (batch.size() > kFew) {
    SortByOrigin(&places);
  } else {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.origin < b.origin; });
  }
  return places;
}

// One behind the other by their first origins: of frames that are in order in themselves, which is
// how they leave most vertices, this often is all there is to do.
RecordBatch InOrderOfFirst(absl::Span<const RecordBatch> batches, const RecordType& type) {
  for (const RecordBatch& batch : batches) WillNeed(batch);
  std::vector<RecordBatch> ordered(batches.begin(), batches.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const RecordBatch& a, const RecordBatch& b) {
    return !b.empty() && (a.empty() || a.origin(0) < b.origin(0));
  });
  return ConcatBatches(ordered, type);
}

// The rows that are left, in order, with what their weights sum to.
struct LeftRows {
  std::vector<int64_t> rows;
  std::vector<int64_t> weights;
  bool all_ones = true;

  void Add(int64_t row, int64_t weight) {
    if (weight == 0) return;
    rows.push_back(row);
    weights.push_back(weight);
    all_ones &= weight == 1;
  }
};

// Rows [begin, end) of `places` have one origin.
void MergeEqual(const RecordBatch& batch, const RecordRows& content, Place* begin, Place* end,
                LeftRows* left) {
  if (end - begin == 1) return left->Add(begin->row, batch.weight(begin->row));
  std::sort(begin, end, [&](const Place& a, const Place& b) {
    return content.Compare(a.row, content, b.row) < 0;
  });
  for (const Place* first = begin; first != end;) {
    int64_t weight = 0;
    const Place* last = first;
    for (; last != end && content.Equal(first->row, content, last->row); ++last) {
      weight = scalar::Add(weight, batch.weight(last->row));
    }
    left->Add(first->row, weight);
    first = last;
  }
}

}  // namespace

WeightsOf Weights(absl::Span<const RecordBatch> batches) {
  bool ones = true;
  int64_t room = std::numeric_limits<int64_t>::max();
  for (const RecordBatch& batch : batches) {
    if (!batch.weights) {
      room -= std::min(room, batch.size());
      continue;
    }
    const int64_t* weights = batch.weights->data<int64_t>();
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t weight = weights[row];
      if (weight <= 0 || weight > room) return WeightsOf::kAny;
      room -= weight;
      ones &= weight == 1;
    }
  }
  return ones ? WeightsOf::kOnes : WeightsOf::kPositive;
}

RecordBatch SortRecords(absl::Span<const RecordBatch> batches, const RecordType& type) {
  RecordBatch all = InOrderOfFirst(batches, type);
  if (Ascends(all.origins)) return all;
  std::vector<Place> places = PlacesOf(all);
  const RecordRows content(all);
  std::vector<int64_t> rows;
  rows.reserve(places.size());
  for (auto first = places.begin(); first != places.end();) {
    auto last = first;
    while (last != places.end() && last->origin == first->origin) ++last;
    std::sort(first, last, [&](const Place& a, const Place& b) {
      const int order = content.Compare(a.row, content, b.row);
      return order != 0 ? order < 0 : all.weight(a.row) < all.weight(b.row);
    });
    for (; first != last; ++first) rows.push_back(first->row);
  }
  return SelectRows(all, rows);
}

RecordBatch MergeRecords(absl::Span<const RecordBatch> batches, const RecordType& type) {
  RecordBatch all = InOrderOfFirst(batches, type);
  if (Weights({&all, 1}) != WeightsOf::kAny && Ascends(all.origins)) return all;
  std::vector<Place> places = PlacesOf(all);
  const RecordRows content(all);
  LeftRows left;
  left.rows.reserve(places.size());
  left.weights.reserve(places.size());
  Place* const end = places.data() + places.size();
  for (Place* first = places.data(); first != end;) {
    Place* last = first;
    while (last != end && last->origin == first->origin) ++last;
    MergeEqual(all, content, first, last, &left);
    first = last;
  }
  RecordBatch result = SelectRows(all, left.rows);
  result.weights.reset();
  if (!left.all_ones) {
    result.weights =
        Tensor::FromSpan<int64_t>({static_cast<int64_t>(left.weights.size())}, left.weights);
  }
  return result;
}

}  // namespace weir
