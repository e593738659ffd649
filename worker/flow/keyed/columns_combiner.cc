#include <algorithm>
#include <string>
#include <utility>

#include "common/flow/vertex_kind.h"
#include "worker/flow/keyed/column_accumulator.h"
#include "worker/flow/keyed/group_combiner.h"

namespace weir {
namespace {

// One accumulator for each column of the result behind the keys.
class ColumnsCombiner : public GroupCombiner {
 public:
  // `first_value`: the column of records that the first accumulator takes.
  ColumnsCombiner(int first_value, std::vector<std::unique_ptr<ColumnAccumulator>> columns,
                  bool needs_order)
      : first_value_(first_value), columns_(std::move(columns)), needs_order_(needs_order) {}

  bool needs_order() const override { return needs_order_; }
  void Resize(int64_t groups) override {
    for (auto& column : columns_) column->Resize(groups);
  }
  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) override {
    const int64_t* weights = batch.weights ? batch.weights->data<int64_t>() : nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      // Where records are counted there may be no column behind the keys.
      const size_t column = first_value_ + i;
      const Tensor& values = column < batch.columns.size() ? batch.columns[column] : batch.origins;
      columns_[i]->Add(values, groups, weights);
    }
    return absl::OkStatus();
  }
  std::vector<Tensor> Results(absl::Span<const uint32_t> groups,
                              absl::Span<const int64_t> weights) override {
    std::vector<Tensor> results;
    for (const auto& column : columns_) results.push_back(column->Results(groups, weights));
    return results;
  }
  bool Forget(uint32_t group) override {
    return std::all_of(columns_.begin(), columns_.end(),
                       [&](const auto& column) { return column->IsInitial(group); });
  }
  int64_t bytes() const override {
    int64_t bytes = 0;
    for (const auto& column : columns_) bytes += column->bytes();
    return bytes;
  }

 private:
  const int first_value_;
  std::vector<std::unique_ptr<ColumnAccumulator>> columns_;
  const bool needs_order_;
};

class Presence : public GroupCombiner {
 public:
  bool needs_order() const override { return false; }
  void Resize(int64_t) override {}
  absl::Status Add(const RecordBatch&, absl::Span<const uint32_t>) override {
    return absl::OkStatus();
  }
  bool IsThere(uint32_t, int64_t weight) const override { return weight > 0; }
  std::vector<Tensor> Results(absl::Span<const uint32_t>, absl::Span<const int64_t>) override {
    return {};
  }
  bool Forget(uint32_t) override { return true; }
  int64_t bytes() const override { return 0; }
};

}  // namespace

std::unique_ptr<GroupCombiner> MakeColumnsCombiner(const FlowVertex& vertex) {
  const std::string combine = vertex.StringOr("combine", "count");
  const int keys = static_cast<int>(vertex.attr("keys").AsInt());
  std::vector<std::unique_ptr<ColumnAccumulator>> columns;
  if (combine == "count") {
    columns.push_back(MakeCountAccumulator());
    return std::make_unique<ColumnsCombiner>(keys, std::move(columns), false);
  }
  bool needs_order = false;
  const RecordType& records = vertex.input_types[0];
  for (auto type = records.begin() + keys; type != records.end(); ++type) {
    if (combine == "sum") {
      columns.push_back(MakeSumAccumulator(*type));
      needs_order |= IsFloat(type->dtype);
    } else if (combine == "mean") {
      columns.push_back(MakeMeanAccumulator(*type));
      needs_order = true;
    } else {
      columns.push_back(
          MakeExtremeAccumulator(*type, combine == "min" ? Combiner::kMin : Combiner::kMax));
    }
  }
  return std::make_unique<ColumnsCombiner>(keys, std::move(columns), needs_order);
}

std::unique_ptr<GroupCombiner> MakePresence() { return std::make_unique<Presence>(); }

std::unique_ptr<GroupCombiner> MakeCombiner(const FlowVertex& vertex, TakesBack takes_back,
                                            std::shared_ptr<const RecordFunction> function) {
  if (function != nullptr) return MakeFold(vertex, std::move(function));
  const std::string combine = vertex.StringOr("combine", "count");
  const bool extreme = combine == "min" || combine == "max";
  if (extreme && takes_back == TakesBack::kYes) return MakeCountedExtremes(vertex);
  return MakeColumnsCombiner(vertex);
}

}  // namespace weir
