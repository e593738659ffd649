#include "worker/flow/keyed/group_fold.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "worker/flow/gather_rows.h"

namespace weir {
namespace {

// Groups whose records are combined together: bounds the memory of a call.
constexpr size_t kGroupsTogether = 64 * 1024;

absl::Status CheckRepeats(const RecordBatch& batch) {
  for (int64_t row = 0; row < batch.size(); ++row) {
    const int64_t weight = batch.weight(row);
    if (weight >= 0 && weight <= kMaxRepeats) continue;
    return InvalidArgument("a record of origin ", batch.origin(row), " has the weight ", weight,
                           "; a function combines a record 0 to ", kMaxRepeats, " times");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GroupFold::Parts> GroupFold::Split(const RecordBatch& batch,
                                                  absl::Span<const uint32_t> groups) {
  WEIR_RETURN_IF_ERROR(CheckRepeats(batch));
  Parts split;
  for (size_t row = 0; row < groups.size(); ++row) {
    const int64_t weight = batch.weight(static_cast<int64_t>(row));
    int64_t& count = next_[groups[row]];
    if (count == 0 && weight > 0) split.parts.push_back({.group = groups[row]});
    count += weight;
  }
  int64_t end = 0;
  for (Part& part : split.parts) {
    part.begin = end;
    end += std::exchange(next_[part.group], end);
    part.end = end;
  }
  split.rows.resize(end);
  for (size_t row = 0; row < groups.size(); ++row) {
    const int64_t weight = batch.weight(static_cast<int64_t>(row));
    if (weight == 0) continue;
    int64_t& at = next_[groups[row]];
    std::fill_n(split.rows.begin() + at, weight, static_cast<int64_t>(row));
    at += weight;
  }
  for (const Part& part : split.parts) next_[part.group] = 0;
  return split;
}

absl::Status GroupFold::Fold(absl::Span<const Tensor> records, Parts split, RowTable* table) const {
  std::vector<Part>& parts = split.parts;
  // Longest first, so that groups that are done are the last ones.
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.size() > b.size(); });
  for (size_t begin = 0; begin < parts.size(); begin += kGroupsTogether) {
    const size_t count = std::min(kGroupsTogether, parts.size() - begin);
    WEIR_RETURN_IF_ERROR(
        FoldTogether(records, split.rows, absl::MakeConstSpan(parts).subspan(begin, count), table));
  }
  return absl::OkStatus();
}

// REQUIRES: parts are sorted by size, the largest first.
absl::Status GroupFold::FoldTogether(absl::Span<const Tensor> records,
                                     const std::vector<int64_t>& rows, absl::Span<const Part> parts,
                                     RowTable* table) const {
  std::vector<uint32_t> groups;
  for (const Part& part : parts) groups.push_back(part.group);
  std::vector<Tensor> combined = table->Rows(groups);
  std::vector<int64_t> next;  // of each group that has one more record
  size_t active = parts.size();
  for (int64_t k = 0;; ++k) {
    const size_t before = active;
    while (active > 0 && parts[active - 1].size() <= k) --active;
    for (size_t i = active; i < before; ++i) {
      table->Set(groups[i], combined, static_cast<int64_t>(i));
    }
    if (active == 0) return absl::OkStatus();
    next.resize(active);
    for (size_t i = 0; i < active; ++i) next[i] = rows[parts[i].begin + k];
    std::vector<Tensor> arguments;
    for (const Tensor& column : combined) {
      arguments.push_back(column.Rows(0, static_cast<int64_t>(active)));
    }
    for (const Tensor& column : records) {
      arguments.push_back(GatherRows(ColumnRows::Of(column), next));
    }
    auto results = function_->Call(arguments, static_cast<int64_t>(active));
    if (!results.ok()) {
      return Annotate(results.status(), StrCat("combining record ", k + 1, " of each key"));
    }
    for (size_t i = 0; i < results->size(); ++i) combined[i] = (*results)[i].Contiguous();
  }
}

}  // namespace weir
