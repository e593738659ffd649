// Changes of counts, of which those of one key are summed and those that cancel are forgotten.
// Thread-compatible. Key has operator== and operator<.
//
// Adding is amortised: a few keys are searched, many are appended and merged from time to time.
#ifndef WEIR_COMMON_TIMELY_CHANGE_BATCH_H_
#define WEIR_COMMON_TIMELY_CHANGE_BATCH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace weir {

template <class Key>
class ChangeBatch {
 public:
  struct Entry {
    Key key;
    int64_t delta = 0;

    friend bool operator==(const Entry& a, const Entry& b) {
      return a.key == b.key && a.delta == b.delta;
    }
  };

  void Add(const Key& key, int64_t delta) {
    const size_t searched = std::min(entries_.size(), kSearched);
    for (auto entry = entries_.rbegin(); entry != entries_.rbegin() + searched; ++entry) {
      if (entry->key == key) {
        entry->delta += delta;
        return;
      }
    }
    if (entries_.size() >= kSearched && entries_.size() >= 2 * merged_) Merge();
    entries_.push_back({key, delta});
  }

  // Sums what has one key and drops what sums to zero. Returns: the rest, sorted by key; valid
  // until the next change.
  absl::Span<const Entry> Merge() {
    if (entries_.size() > 1) {
      std::sort(entries_.begin(), entries_.end(),
                [](const Entry& a, const Entry& b) { return a.key < b.key; });
    }
    size_t kept = 0;
    for (size_t first = 0, next; first < entries_.size(); first = next) {
      int64_t sum = 0;
      for (next = first; next < entries_.size() && entries_[next].key == entries_[first].key;
           ++next) {
        sum += entries_[next].delta;
      }
      if (sum == 0) continue;
      if (kept != first) entries_[kept].key = std::move(entries_[first].key);
      entries_[kept++].delta = sum;
    }
    entries_.erase(entries_.begin() + kept, entries_.end());
    merged_ = kept;
    return entries_;
  }

  void Clear() {
    entries_.clear();
    merged_ = 0;
  }

  // Whether nothing was added, or all that was is forgotten.
  bool empty() const { return entries_.empty(); }

 private:
  static constexpr size_t kSearched = 8;

  std::vector<Entry> entries_;
  size_t merged_ = 0;  // how many there were after the last merge
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_CHANGE_BATCH_H_
