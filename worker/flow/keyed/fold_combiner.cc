#include <utility>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/keyed/group_combiner.h"
#include "worker/flow/keyed/group_fold.h"
#include "worker/flow/keyed/row_table.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {
namespace {

// By a function, from the first record of a group on.
class FoldCombiner : public GroupCombiner {
 public:
  FoldCombiner(int keys, const RecordType& values, std::shared_ptr<const RecordFunction> function)
      : keys_(keys), results_(values), fold_(std::move(function)) {}

  bool needs_order() const override { return true; }
  void Resize(int64_t groups) override {
    has_result_.resize(groups);
    fold_.Resize(groups);
    results_.Resize(groups);
  }

  absl::Status Add(const RecordBatch& batch, absl::Span<const uint32_t> groups) override {
    WEIR_ASSIGN_OR_RETURN(GroupFold::Parts split, fold_.Split(batch, groups));
    const absl::Span<const Tensor> values = absl::MakeConstSpan(batch.columns).subspan(keys_);
    for (GroupFold::Part& part : split.parts) {
      if (has_result_[part.group]) continue;
      has_result_[part.group] = true;
      results_.Set(part.group, values, split.rows[part.begin++]);
    }
    return fold_.Fold(values, std::move(split), &results_);
  }

  std::vector<Tensor> Results(absl::Span<const uint32_t> groups,
                              absl::Span<const int64_t>) override {
    return results_.Rows(groups);
  }
  // Weights are above 0, so this is never asked for.
  bool Forget(uint32_t group) override { return !has_result_[group]; }
  int64_t bytes() const override {
    return results_.bytes() + fold_.bytes() + static_cast<int64_t>(has_result_.capacity());
  }

 private:
  const int keys_;
  TableVector<uint8_t> has_result_;  // by group
  RowTable results_;
  GroupFold fold_;
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
