// A set of pairwise incomparable elements: the least ones of what was inserted. Thread-compatible.
//
// As a frontier of times it says that only times >= some element may still come; an empty one, that
// nothing comes any more. T has LessEqual(a, b), a partial order, and operator<, a total one.
#ifndef WEIR_COMMON_TIMELY_ANTICHAIN_H_
#define WEIR_COMMON_TIMELY_ANTICHAIN_H_

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/str_cat.h"

namespace weir {

template <class T>
class Antichain {
 public:
  Antichain() = default;
  Antichain(std::initializer_list<T> elements) {
    for (const T& element : elements) Insert(element);
  }

  // Elements above the new one go. Returns: whether it came in, as no element is <= it.
  bool Insert(const T& element) {
    if (Covers(element)) return false;
    std::erase_if(elements_, [&](const T& other) { return LessEqual(element, other); });
    elements_.insert(std::lower_bound(elements_.begin(), elements_.end(), element), element);
    return true;
  }

  // Takes one element out. Returns: whether it was there.
  bool Remove(const T& element) {
    const auto at = std::lower_bound(elements_.begin(), elements_.end(), element);
    if (at == elements_.end() || !(*at == element)) return false;
    elements_.erase(at);
    return true;
  }

  // Returns: whether some element is <= `other`; of a frontier, whether that time may still come.
  bool Covers(const T& other) const {
    for (const T& element : elements_) {
      if (LessEqual(element, other)) return true;
    }
    return false;
  }

  bool Contains(const T& element) const {
    return std::binary_search(elements_.begin(), elements_.end(), element);
  }

  // In the total order.
  absl::Span<const T> elements() const { return elements_; }
  bool empty() const { return elements_.empty(); }
  int size() const { return static_cast<int>(elements_.size()); }
  auto begin() const { return elements_.begin(); }
  auto end() const { return elements_.end(); }

  friend bool operator==(const Antichain& a, const Antichain& b) {
    return a.elements_ == b.elements_;
  }

 private:
  std::vector<T> elements_;
};

// Returns: "{(0, 3), (1, 0)}".
template <class T>
std::string ToString(const Antichain<T>& antichain) {
  std::string text = "{";
  for (const T& element : antichain)
    StrAppend(&text, text.size() > 1 ? ", " : "", ToString(element));
  return text + "}";
}

template <class T>
std::ostream& operator<<(std::ostream& out, const Antichain<T>& antichain) {
  return out << ToString(antichain);
}

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_ANTICHAIN_H_
