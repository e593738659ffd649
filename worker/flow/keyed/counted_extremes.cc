#include <string>
#include <utility>

#include "common/base/status.h"
#include "worker/flow/keyed/column_accumulator.h"
#include "worker/flow/keyed/counted_records.h"
#include "worker/flow/keyed/group_combiner.h"

namespace weir {
namespace {

// The least or largest values of the records that are there, worked out anew from all of a group
// when some of it changes: the one that was the extreme may have gone.
class CountedExtremes : public GroupCombiner {
 public:
  CountedExtremes(const RecordType& records, int keys, Combiner combiner)
      : keys_(keys),
        values_(records.begin() + keys, records.end()),
        combiner_(combiner),
        records_(records) {}

  bool needs_order() const override { return false; }
  void Resize(int64_t groups) override { records_.Resize(groups); }
  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) override {
    records_.BeginTime();
    return records_.Add(batch, groups);
  }
  bool IsThere(uint32_t group, int64_t) const override { return records_.HasPresent(group); }

  std::vector<Tensor> Results(absl::Span<const uint32_t> groups,
                              absl::Span<const int64_t> weights) override {
    std::vector<uint32_t> records;
    std::vector<uint32_t> places;  // in `groups`, of each record
    for (size_t i = 0; i < groups.size(); ++i) {
      records_.List(groups[i], &records);
      places.resize(records.size(), static_cast<uint32_t>(i));
    }
    const std::vector<Tensor> columns = records_.Columns(records);
    for (const uint32_t group : groups) records_.ForgetGone(group);
    std::vector<uint32_t> all(groups.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    std::vector<Tensor> results;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto accumulator = MakeExtremeAccumulator(values_[i], combiner_);
      accumulator->Resize(static_cast<int64_t>(groups.size()));
      accumulator->Add(columns[keys_ + i], places, nullptr);
      results.push_back(accumulator->Results(all, weights));
    }
    return results;
  }

  bool Forget(uint32_t group) override { return !records_.has_any(group); }
  int64_t bytes() const override { return records_.bytes(); }

 private:
  const int keys_;
  const RecordType values_;
  const Combiner combiner_;
  CountedRecords records_;
};

}  // namespace

std::unique_ptr<GroupCombiner> MakeCountedExtremes(const FlowVertex& vertex) {
  const Combiner combiner =
      vertex.attr("combine").AsString() == "min" ? Combiner::kMin : Combiner::kMax;
  const int keys = static_cast<int>(vertex.attr("keys").AsInt());
  return std::make_unique<CountedExtremes>(vertex.input_types[0], keys, combiner);
}

}  // namespace weir
