// Virtual time: an epoch, and one counter for each loop around the place where something is.
//
// Coordinate 0 is the epoch, the last one the counter of the innermost loop. Times are compared at
// one place only, so both have the same number of coordinates. LessEqual is the product order:
// every coordinate at most the other's; two times may be incomparable. operator< is lexicographic,
// a total order that extends it, for sorting and for the order of delivery.
//
// A value of 40 bytes; up to three loops deep nothing is allocated. Thread-compatible.
//
//   Timestamp time = {3, 1, 4};    // epoch 3, trip 1 of the outer loop, trip 4 of the inner one
#ifndef WEIR_COMMON_TIMELY_TIMESTAMP_H_
#define WEIR_COMMON_TIMELY_TIMESTAMP_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace weir {

// The numbers of a time or of a summary.
using Coordinates = absl::InlinedVector<int64_t, 4>;

class Timestamp {
 public:
  // Epoch 0, outside of loops.
  Timestamp() : coordinates_(1, 0) {}
  // REQUIRES: an epoch at least; no coordinate is negative.
  Timestamp(std::initializer_list<int64_t> coordinates) : coordinates_(coordinates) {}
  explicit Timestamp(Coordinates coordinates) : coordinates_(std::move(coordinates)) {}

  // Returns: the least time inside of `depth` loops.
  static Timestamp Minimum(int depth) { return Timestamp(Coordinates(depth + 1, 0)); }

  int64_t epoch() const { return coordinates_[0]; }
  // How many loops are around.
  int depth() const { return size() - 1; }
  // How many coordinates there are: depth() + 1.
  int size() const { return static_cast<int>(coordinates_.size()); }
  int64_t operator[](int i) const { return coordinates_[i]; }
  absl::Span<const int64_t> coordinates() const { return coordinates_; }

  friend bool operator==(const Timestamp& a, const Timestamp& b) {
    return a.coordinates_ == b.coordinates_;
  }
  friend bool operator!=(const Timestamp& a, const Timestamp& b) { return !(a == b); }
  friend bool operator<(const Timestamp& a, const Timestamp& b) {
    return a.coordinates_ < b.coordinates_;
  }

  template <class H>
  friend H AbslHashValue(H h, const Timestamp& time) {
    return H::combine(std::move(h), time.coordinates_);
  }

 private:
  Coordinates coordinates_;
};

// The product order. REQUIRES: both have the same depth.
inline bool LessEqual(const Timestamp& a, const Timestamp& b) {
  const int64_t* left = a.coordinates().data();
  const int64_t* right = b.coordinates().data();
  for (int i = 0, size = a.size(); i < size; ++i) {
    if (left[i] > right[i]) return false;
  }
  return true;
}

// Returns: "(3, 1, 4)".
std::string ToString(const Timestamp& time);
std::ostream& operator<<(std::ostream& out, const Timestamp& time);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_TIMESTAMP_H_
