#include "server/jobs/result_assembly.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"

namespace weir {
namespace {

void CopyRows(const Tensor& rows, int64_t first_row, Tensor* whole) {
  if (rows.num_elements() == 0) return;
  const int64_t row_bytes = rows.num_bytes() / rows.extent(0);
  rows.CopyTo(whole->raw_mutable_data() + first_row * row_bytes);
}

}  // namespace

absl::StatusOr<ResultAssembly> ResultAssembly::Make(std::shared_ptr<const CompiledProgram> program,
                                                    std::shared_ptr<const RunShape> shape,
                                                    const BoundInputs& inputs,
                                                    std::vector<int> outputs) {
  ResultAssembly out;
  const v1::Plan& plan = program->plan.plan;
  for (int output : outputs) {
    const uint32_t value = plan.outputs(output);
    Part& part = out.parts_[value];
    const v1::PlanValue::Placement placement = plan.values(value).placement();
    if (placement == v1::PlanValue::PLACEMENT_FEED) {
      for (int i = 0; i < plan.inputs_size(); ++i) {
        if (plan.inputs(i) != value) continue;
        part.whole = inputs.feeds[i];
        part.missing = inputs.variables[i] != nullptr ? 1 : 0;
      }
      continue;
    }
    part.missing = placement == v1::PlanValue::PLACEMENT_SPLIT ? shape->world() : 1;
    if (part.missing == 1) continue;
    WEIR_ASSIGN_OR_RETURN(part.whole,
                          Tensor::TryCreate(shape->dtype(value), shape->extents(value)));
  }
  out.outputs_ = std::move(outputs);
  out.program_ = std::move(program);
  out.shape_ = std::move(shape);
  return out;
}

absl::Status ResultAssembly::AddRows(int rank, const v1::Feed& feed, Tensor rows, Part* part) {
  const v1::PlanValue& value = program_->plan.plan.values(feed.value());
  const bool split = value.placement() == v1::PlanValue::PLACEMENT_SPLIT;
  Extents wanted = shape_->extents(feed.value());
  RowRange range;
  if (split) {
    range = shape_->RowsOf(feed.value(), rank);
    wanted[0] = range.size();
  }
  if (rows.dtype() != shape_->dtype(feed.value()) || rows.extents() != wanted ||
      feed.first_row() != range.begin || (!split && rank != 0) || part->missing == 0) {
    return absl::InternalError(StrCat("result ", value.name(), " came as ", rows.type().ToString(),
                                      " from row ", feed.first_row(), " instead of ",
                                      ExtentsToString(wanted), " from row ", range.begin));
  }
  --part->missing;
  if (split && shape_->world() > 1) {
    CopyRows(rows, range.begin, &part->whole);
  } else {
    part->whole = std::move(rows);
  }
  return absl::OkStatus();
}

absl::Status ResultAssembly::Add(int rank, const v1::RunFinished& finished,
                                 std::vector<Tensor> rows) {
  if (rows.size() != static_cast<size_t>(finished.results_size())) {
    return absl::InternalError(StrCat("run ", finished.run_id(), ": ", rows.size(),
                                      " tensors came for ", finished.results_size(), " results"));
  }
  absl::flat_hash_set<uint32_t> seen;  // a plan may give one value as two outputs
  for (int i = 0; i < finished.results_size(); ++i) {
    const v1::Feed& feed = finished.results(i);
    auto part = parts_.find(feed.value());
    if (part == parts_.end()) {
      stray_bytes_ += rows[i].num_bytes();
      return absl::InternalError(StrCat("value ", feed.value(), " came, which is no result"));
    }
    if (!seen.insert(feed.value()).second) continue;
    WEIR_RETURN_IF_ERROR(AddRows(rank, feed, std::move(rows[i]), &part->second));
  }
  return absl::OkStatus();
}

void ResultAssembly::AddInput(uint32_t value, Tensor whole) {
  Part& part = parts_.at(value);
  part.whole = std::move(whole);
  part.missing = 0;
}

absl::StatusOr<std::vector<Tensor>> ResultAssembly::Take() {
  std::vector<Tensor> results;
  for (int output : outputs_) {
    const uint32_t value = program_->plan.plan.outputs(output);
    const Part& part = parts_.at(value);
    if (part.missing > 0) {
      return absl::InternalError(StrCat("result ", program_->plan.plan.values(value).name(),
                                        " did not come from ", part.missing, " workers"));
    }
    results.push_back(part.whole);
  }
  return results;
}

}  // namespace weir
