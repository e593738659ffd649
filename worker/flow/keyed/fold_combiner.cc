#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/keyed/group_combiner.h"
#include "worker/flow/keyed/row_table.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {
namespace {

// Groups whose records are combined together: bounds the memory of a call.
constexpr size_t kGroupsTogether = 64 * 1024;

// The records of one group in order: rows [begin, end) of a list.
struct GroupRows {
  uint32_t group = 0;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

// The k-th records of all groups at once: one call for each position in the longest group.
class FoldCombiner : public GroupCombiner {
 public:
  FoldCombiner(int keys, const RecordType& values, std::shared_ptr<const RecordFunction> function)
      : keys_(keys), results_(values), function_(std::move(function)) {}

  bool needs_order() const override { return true; }
  void Resize(int64_t groups) override {
    has_result_.resize(groups);
    next_.resize(groups);
    results_.Resize(groups);
  }

  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) override {
    WEIR_RETURN_IF_ERROR(CheckRepeats(batch));
    std::vector<int64_t> rows;
    std::vector<GroupRows> parts = PartsOf(batch, groups, &rows);
    const absl::Span<const Tensor> values = absl::MakeConstSpan(batch.columns).subspan(keys_);
    for (GroupRows& part : parts) {
      if (has_result_[part.group]) continue;
      has_result_[part.group] = true;
      results_.Set(part.group, values, rows[part.begin++]);
    }
    // Longest first, so that groups that are done are the last ones.
    std::stable_sort(parts.begin(), parts.end(),
                     [](const GroupRows& a, const GroupRows& b) { return a.size() > b.size(); });
    for (size_t begin = 0; begin < parts.size(); begin += kGroupsTogether) {
      const size_t count = std::min(kGroupsTogether, parts.size() - begin);
      WEIR_RETURN_IF_ERROR(Fold(values, rows, absl::MakeConstSpan(parts).subspan(begin, count)));
    }
    return absl::OkStatus();
  }

  std::vector<Tensor> Results(absl::Span<const uint32_t> groups,
                              absl::Span<const int64_t>) override {
    return results_.Rows(groups);
  }
  // Weights are above 0, so this is never asked for.
  bool Forget(uint32_t group) override { return !has_result_[group]; }
  int64_t bytes() const override {
    return results_.bytes() +
           static_cast<int64_t>(has_result_.capacity() + next_.capacity() * sizeof(int64_t));
  }

 private:
  static absl::Status CheckRepeats(const RecordBatch& batch) {
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t weight = batch.weight(row);
      if (weight > 0 && weight <= kMaxRepeats) continue;  // merged: none is 0
      return InvalidArgument("a record of origin ", batch.origin(row), " has the weight ", weight,
                             "; a function combines a record 0 to ", kMaxRepeats, " times");
    }
    return absl::OkStatus();
  }

  // Each group that has records, in any order; `rows` gets the rows of all, each as often as its
  // weight says. Takes as long as there are records, however many groups there are.
  std::vector<GroupRows> PartsOf(const RecordBatch& batch, absl::Span<const uint32_t> groups,
                                 std::vector<int64_t>* rows) {
    std::vector<GroupRows> parts;
    for (size_t row = 0; row < groups.size(); ++row) {
      int64_t& count = next_[groups[row]];
      if (count == 0) parts.push_back({.group = groups[row]});
      count += batch.weight(static_cast<int64_t>(row));
    }
    int64_t end = 0;
    for (GroupRows& part : parts) {
      part.begin = end;
      end += std::exchange(next_[part.group], end);
      part.end = end;
    }
    rows->resize(end);
    for (size_t row = 0; row < groups.size(); ++row) {
      int64_t& at = next_[groups[row]];
      const int64_t weight = batch.weight(static_cast<int64_t>(row));
      std::fill_n(rows->begin() + at, weight, static_cast<int64_t>(row));
      at += weight;
    }
    for (const GroupRows& part : parts) next_[part.group] = 0;
    return parts;
  }

  // REQUIRES: each group has a result; parts are sorted by size, the largest first.
  absl::Status Fold(absl::Span<const Tensor> values, const std::vector<int64_t>& rows,
                    absl::Span<const GroupRows> parts) {
    std::vector<uint32_t> groups;
    for (const GroupRows& part : parts) groups.push_back(part.group);
    std::vector<Tensor> combined = results_.Rows(groups);
    std::vector<int64_t> next;  // of each group that has one more record
    size_t active = parts.size();
    for (int64_t k = 0;; ++k) {
      const size_t before = active;
      while (active > 0 && parts[active - 1].size() <= k) --active;
      for (size_t i = active; i < before; ++i) {
        results_.Set(groups[i], combined, static_cast<int64_t>(i));
      }
      if (active == 0) return absl::OkStatus();
      next.resize(active);
      for (size_t i = 0; i < active; ++i) next[i] = rows[parts[i].begin + k];
      std::vector<Tensor> arguments;
      for (const Tensor& column : combined) {
        arguments.push_back(column.Rows(0, static_cast<int64_t>(active)));
      }
      for (const Tensor& column : values) {
        arguments.push_back(GatherRows(ColumnRows::Of(column), next));
      }
      auto results = function_->Call(arguments, static_cast<int64_t>(active));
      if (!results.ok()) {
        return Annotate(results.status(), StrCat("combining record ", k + 1, " of each key"));
      }
      for (size_t i = 0; i < results->size(); ++i) combined[i] = (*results)[i].Contiguous();
    }
  }

  const int keys_;
  TableVector<uint8_t> has_result_;  // by group
  TableVector<int64_t> next_;        // by group; 0 but within PartsOf
  RowTable results_;
  const std::shared_ptr<const RecordFunction> function_;
};

}  // namespace

std::unique_ptr<GroupCombiner> MakeFold(const FlowVertex& vertex,
                                        std::shared_ptr<const RecordFunction> function) {
  const int keys = static_cast<int>(vertex.attr("keys").AsInt());
  const RecordType& records = vertex.input_types[0];
  return std::make_unique<FoldCombiner>(keys, RecordType(records.begin() + keys, records.end()),
                                        std::move(function));
}

}  // namespace weir
