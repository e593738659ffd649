// What a path does to a time, at the least: keep the first counters, add a non-negative vector to
// them, append constants. Immutable value; usable from any thread.
//
// Summaries between the same two scopes are ordered: a <= b if a gives a time <= that of b for
// every time. Two paths may be incomparable (one adds to the epoch, the other to a counter), so
// what is known of a pair of places is an antichain of summaries.
//
// A sum beyond int64 is no time: Apply and Then return nothing, and what would have that time is
// dropped. (A summary forgets what it drops: Then may be defined where a step in between is not.)
#ifndef WEIR_COMMON_TIMELY_PATH_SUMMARY_H_
#define WEIR_COMMON_TIMELY_PATH_SUMMARY_H_

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "common/timely/timestamp.h"

namespace weir {

class PathSummary {
 public:
  // Keeps add.size() coordinates. REQUIRES: no number is negative; one coordinate at least is kept.
  PathSummary(Coordinates add, Coordinates append)
      : add_(std::move(add)), append_(std::move(append)) {}

  // Leaves times of this depth as they are.
  static PathSummary Identity(int depth);
  // Into a loop at `depth` and its trip `constant`.
  static PathSummary Enter(int depth, int64_t constant = 0);
  // Out of the innermost of `depth` loops.
  static PathSummary Leave(int depth);
  // Adds `by` to one coordinate: 0 is the epoch, `depth` the counter of the innermost loop.
  static PathSummary Advance(int depth, int coordinate, int64_t by = 1);

  int kept() const { return static_cast<int>(add_.size()); }
  int result_size() const { return static_cast<int>(add_.size() + append_.size()); }
  absl::Span<const int64_t> add() const { return add_; }
  absl::Span<const int64_t> append() const { return append_; }
  // Whether all kept coordinates stay as they are.
  bool adds_nothing() const;

  // REQUIRES: time.size() >= kept().
  std::optional<Timestamp> Apply(const Timestamp& time) const;
  // This path and then the next one. REQUIRES: result_size() >= next.kept().
  std::optional<PathSummary> Then(const PathSummary& next) const;

  friend bool operator==(const PathSummary& a, const PathSummary& b) {
    return a.add_ == b.add_ && a.append_ == b.append_;
  }
  // A total order, for sorting only.
  friend bool operator<(const PathSummary& a, const PathSummary& b) {
    return a.add_ != b.add_ ? a.add_ < b.add_ : a.append_ < b.append_;
  }

 private:
  Coordinates add_;
  Coordinates append_;
};

// REQUIRES: both are between the same two scopes.
bool LessEqual(const PathSummary& a, const PathSummary& b);

// Returns: "keep 2 + (0, 1), append (0)", in which "+ ..." and "append ..." stand if they matter.
std::string ToString(const PathSummary& summary);
std::ostream& operator<<(std::ostream& out, const PathSummary& summary);

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_PATH_SUMMARY_H_
