#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/keyed/sorted_records.h"

namespace weir {
namespace {

// All records of a time, in order: without a function some at a time, for a function all at once.
class CollectState : public VertexState {
 public:
  CollectState(const Flow& flow, const FlowVertex& vertex,
               std::shared_ptr<const RecordFunction> function)
      : type_(vertex.input_types[0]),
        function_(std::move(function)),
        row_by_row_(function_ != nullptr && AnswersRowByRow(flow, vertex, "function")),
        sorted_(type_) {}

  absl::Status Begin(Inputs inputs) override {
    if (function_ == nullptr) {
      sorted_.Begin(std::move(inputs[0]));
      return absl::OkStatus();
    }
    WEIR_RETURN_IF_ERROR(CheckWhole(inputs[0], "its function"));
    const RecordBatch merged = MergeRecords(inputs[0], type_);
    if (merged.empty()) return absl::OkStatus();
    has_result_ = true;
    return Call(merged);
  }
  bool done() const override { return !has_result_ && sorted_.done(); }
  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    if (has_result_) {
      has_result_ = false;
      return std::move(result_);
    }
    if (!sorted_.is_sorted()) WEIR_RETURN_IF_ERROR(sorted_.SortSome());
    return sorted_.is_sorted() ? sorted_.Next(most) : EmptyBatch(type_);
  }
  int64_t bytes() const override { return has_result_ ? HeldBytes(result_) : sorted_.bytes(); }

 private:
  // The rows of a batch, each as often as its weight says.
  static absl::StatusOr<std::vector<int64_t>> Repeated(const RecordBatch& batch) {
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t weight = batch.weight(row);
      if (weight < 0 || weight > kMaxRepeats) {
        return InvalidArgument("a record of origin ", batch.origin(row), " has the weight ", weight,
                               "; a function takes a record 0 to ", kMaxRepeats, " times");
      }
      rows.insert(rows.end(), weight, row);
      if (static_cast<int64_t>(rows.size()) > kMaxCollectedRows) {
        return InvalidArgument("more than ", kMaxCollectedRows, " records for one call");
      }
    }
    return rows;
  }

  absl::Status Call(const RecordBatch& merged) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, Repeated(merged));
    const double times = static_cast<double>(rows.size()) / static_cast<double>(merged.size());
    WEIR_RETURN_IF_ERROR(
        CheckWhole(static_cast<int64_t>(times * static_cast<double>(merged.bytes())),
                   "its function, with each record as often as its weight says,"));
    RecordBatch all = merged.weights ? SelectRows(merged, rows) : merged;
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results, function_->Call(all.columns, all.size()));
    for (const Tensor& result : results) {
      if (result.extent(0) == results[0].extent(0)) continue;
      return InvalidArgument("the function returns columns of ", results[0].extent(0), " and ",
                             result.extent(0), " records");
    }
    for (Tensor& result : results) result = result.Contiguous();
    Tensor origins = all.origins;
    if (!row_by_row_) {
      const std::vector<int64_t> first(results[0].extent(0), 0);
      origins = GatherRows(ColumnRows::Of(all.origins), first);
    }
    result_ = {.columns = std::move(results), .origins = std::move(origins)};
    return absl::OkStatus();
  }

  const RecordType type_;
  const std::shared_ptr<const RecordFunction> function_;
  const bool row_by_row_;
  RecordBatch result_;
  bool has_result_ = false;  // that was not sent
  SortedRecords sorted_;     // without a function
};

}  // namespace

std::unique_ptr<Vertex> MakeCollectVertex(const VertexSetup& setup) {
  std::shared_ptr<const RecordFunction> function;
  if (setup.vertex().FindAttr("function") != nullptr) function = setup.functions.at("function");
  return std::make_unique<KeyedVertex>(
      setup, [flow = setup.flow, &form = setup.vertex(), function = std::move(function)] {
        return std::make_unique<CollectState>(*flow, form, function);
      });
}

}  // namespace weir
