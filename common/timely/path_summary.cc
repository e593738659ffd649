#include "common/timely/path_summary.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_join.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

// Returns: whether there is a sum. REQUIRES: none is negative.
bool Add(int64_t a, int64_t b, Coordinates* sums) {
  if (a > std::numeric_limits<int64_t>::max() - b) return false;
  sums->push_back(a + b);
  return true;
}

}  // namespace

PathSummary PathSummary::Identity(int depth) { return PathSummary(Coordinates(depth + 1, 0), {}); }

PathSummary PathSummary::Enter(int depth, int64_t constant) {
  return PathSummary(Coordinates(depth + 1, 0), {constant});
}

PathSummary PathSummary::Leave(int depth) { return PathSummary(Coordinates(depth, 0), {}); }

PathSummary PathSummary::Advance(int depth, int coordinate, int64_t by) {
  Coordinates add(depth + 1, 0);
  add[coordinate] = by;
  return PathSummary(std::move(add), {});
}

bool PathSummary::adds_nothing() const {
  return std::all_of(add_.begin(), add_.end(), [](int64_t by) { return by == 0; });
}

std::optional<Timestamp> PathSummary::Apply(const Timestamp& time) const {
  Coordinates result;
  for (int i = 0; i < kept(); ++i) {
    if (!Add(time[i], add_[i], &result)) return std::nullopt;
  }
  result.insert(result.end(), append_.begin(), append_.end());
  return Timestamp(std::move(result));
}

std::optional<PathSummary> PathSummary::Then(const PathSummary& next) const {
  Coordinates add, append;
  for (int i = 0; i < next.kept(); ++i) {
    const bool kept_here = i < kept();
    if (!Add(kept_here ? add_[i] : append_[i - kept()], next.add_[i], kept_here ? &add : &append)) {
      return std::nullopt;
    }
  }
  append.insert(append.end(), next.append_.begin(), next.append_.end());
  return PathSummary(std::move(add), std::move(append));
}

bool LessEqual(const PathSummary& a, const PathSummary& b) {
  // Where a keeps a counter and b has a constant, a counter above the constant is a counterexample;
  // the other way round the least counter, zero, decides.
  if (a.kept() > b.kept()) return false;
  for (int i = 0; i < a.result_size(); ++i) {
    const int64_t left = i < a.kept() ? a.add()[i] : a.append()[i - a.kept()];
    const int64_t right = i < b.kept() ? b.add()[i] : b.append()[i - b.kept()];
    if (left > right) return false;
  }
  return true;
}

std::string ToString(const PathSummary& summary) {
  std::string text = StrCat("keep ", summary.kept());
  if (!summary.adds_nothing()) StrAppend(&text, " + (", absl::StrJoin(summary.add(), ", "), ")");
  if (!summary.append().empty()) {
    StrAppend(&text, ", append (", absl::StrJoin(summary.append(), ", "), ")");
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const PathSummary& summary) {
  return out << ToString(summary);
}

}  // namespace weir
