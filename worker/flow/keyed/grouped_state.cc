#include "worker/flow/keyed/grouped_state.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/status.h"
#include "common/ops/scalar/integer.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/keyed/key_order.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/keyed/sorted_records.h"

namespace weir {
namespace {

RecordType WithoutFirst(const RecordType& type, int columns) {
  return RecordType(type.begin() + columns, type.end());
}

Tensor Filled(int64_t size, int64_t value) {
  Tensor filled(DType::kI64, {size});
  std::fill_n(filled.mutable_data<int64_t>(), size, value);
  return filled;
}

std::vector<Tensor> Joined(std::vector<Tensor> first, const std::vector<Tensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// All of them merged, in order: in one batch, or in several on disk if they are too many for one
// call.
absl::StatusOr<std::vector<RecordBatch>> MergeSome(std::vector<RecordBatch> batches,
                                                   const RecordType& type) {
  int64_t bytes = 0;
  for (const RecordBatch& batch : batches) bytes += batch.bytes();
  FlowShare* share = FlowShare::Current();
  std::vector<RecordBatch> merged;
  if (share == nullptr || bytes <= share->work_bytes()) {
    merged.push_back(MergeRecords(batches, type));
    return merged;
  }
  SortedRecords sorted(type);
  sorted.Begin(std::move(batches));
  while (!sorted.is_sorted()) WEIR_RETURN_IF_ERROR(sorted.SortSome());
  while (!sorted.done()) {
    const RecordBatch some = sorted.NextMerged(RecordsPerFrame(type));
    if (some.empty()) continue;
    WEIR_ASSIGN_OR_RETURN(SpilledRecords spilled, share->Spill(some));
    merged.push_back(std::move(spilled).Read(type));
  }
  return merged;
}

// Errors: InvalidArgument, merged records take back what nobody would be told is gone.
absl::Status CheckTakenBack(const FlowVertex& vertex, const RecordBatch& batch) {
  if (LifeOf(vertex) == StateLife::kTime || EmitOf(vertex) == Emit::kChanges) {
    return absl::OkStatus();
  }
  for (int64_t row = 0; row < batch.size(); ++row) {
    if (batch.weight(row) > 0) continue;
    return InvalidArgument("a record of origin ", batch.origin(row), " has the weight ",
                           batch.weight(row), "; what is taken back needs emit = \"changes\"");
  }
  return absl::OkStatus();
}

// Whether records are more than one call should take.
bool AreMany(const std::vector<RecordBatch>& batches) {
  const FlowShare* share = FlowShare::Current();
  if (share == nullptr) return false;
  int64_t bytes = 0;
  for (const RecordBatch& batch : batches) bytes += batch.bytes();
  return bytes > share->work_bytes();
}

}  // namespace

absl::StatusOr<std::vector<RecordBatch>> PrepareRecords(const FlowVertex& vertex,
                                                        std::vector<RecordBatch> batches,
                                                        bool in_order) {
  const WeightsOf weights = Weights(batches);
  if (!in_order && weights != WeightsOf::kAny) return batches;
  WEIR_ASSIGN_OR_RETURN(std::vector<RecordBatch> merged,
                        MergeSome(std::move(batches), vertex.input_types[0]));
  for (const RecordBatch& batch : merged) {
    WEIR_RETURN_IF_ERROR(CheckTakenBack(vertex, batch));
  }
  return merged;
}

GroupedState::GroupedState(const FlowVertex& vertex, int keys,
                           const MakeGroupCombiner& make_combiner)
    : vertex_(vertex),
      life_(LifeOf(vertex)),
      emit_(EmitOf(vertex)),
      keys_(keys),
      type_(vertex.output_types[0]),
      make_combiner_(make_combiner),
      index_(RecordType(type_.begin(), type_.begin() + keys)),
      combiner_(make_combiner(emit_ == Emit::kChanges ? TakesBack::kYes : TakesBack::kNo)),
      sent_rows_(WithoutFirst(type_, keys)) {}

absl::Status GroupedState::Begin(Inputs inputs) {
  ++time_;
  touched_.clear();
  next_ = 0;
  std::vector<RecordBatch>& batches = inputs[0];
  const WeightsOf weights = Weights(batches);
  if (AreMany(batches) && (combiner_->needs_order() || weights == WeightsOf::kAny)) {
    if (!outlives_times() && weights == WeightsOf::kAny) {
      combiner_ = make_combiner_(TakesBack::kYes);
    }
    sorted_.emplace(vertex_.input_types[0]).Begin(std::move(batches));
    return absl::OkStatus();
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<RecordBatch> prepared,
                        PrepareRecords(vertex_, std::move(batches), combiner_->needs_order()));
  if (!outlives_times() && Weights(prepared) == WeightsOf::kAny) {
    combiner_ = make_combiner_(TakesBack::kYes);
  }
  return AddAll(std::move(prepared));
}

absl::Status GroupedState::AddSome() {
  const RecordType& type = vertex_.input_types[0];
  if (!sorted_->is_sorted()) return sorted_->SortSome();
  RecordBatch some = sorted_->NextMerged(RecordsPerFrame(type));
  if (sorted_->done()) sorted_.reset();
  if (some.empty()) return absl::OkStatus();
  WEIR_RETURN_IF_ERROR(CheckTakenBack(vertex_, some));
  std::vector<RecordBatch> batches;
  batches.push_back(std::move(some));
  return AddAll(std::move(batches));
}

absl::Status GroupedState::AddAll(std::vector<RecordBatch> batches) {
  return AddInGoodOrder(std::move(batches), vertex_.input_types[0], keys_, index_,
                        [this](const RecordBatch& batch) { return AddBatch(batch); });
}

absl::Status GroupedState::AddBatch(const RecordBatch& batch) {
  const int64_t before = index_.limit();
  WEIR_RETURN_IF_ERROR(index_.FindOrAdd(batch.columns, batch.size(), &numbers_));
  const int64_t limit = index_.limit();
  groups_.resize(limit);
  combiner_->Resize(limit);
  if (outlives_times()) {
    past_.resize(limit);
    sent_rows_.Resize(limit);
  }
  AddToGroups(batch, before);
  return combiner_->Add(batch, numbers_);
}

void GroupedState::AddToGroups(const RecordBatch& batch, int64_t before) {
  const int64_t* origins = batch.origins.data<int64_t>();
  if (outlives_times()) {
    for (const uint32_t number : numbers_) {
      Past& past = past_[number];
      if (past.time == time_) continue;
      past.time = time_;
      groups_[number].origin = std::numeric_limits<int64_t>::max();
      touched_.push_back(number);
    }
  } else {
    touched_.resize(groups_.size());
    std::iota(touched_.begin() + before, touched_.end(), static_cast<uint32_t>(before));
  }
  const int64_t* weights = batch.weights ? batch.weights->data<int64_t>() : nullptr;
  Group* const groups = groups_.data();
  for (size_t row = 0; row < numbers_.size(); ++row) {
    Group& group = groups[numbers_[row]];
    group.origin = std::min(group.origin, origins[row]);
    group.weight = scalar::Add(group.weight, weights == nullptr ? 1 : weights[row]);
  }
}

absl::StatusOr<RecordBatch> GroupedState::Next(int64_t most) {
  if (sorted_.has_value()) {
    WEIR_RETURN_IF_ERROR(AddSome());
    return EmptyBatch(type_);
  }
  // Of a group an old result and a new one may come out.
  const int64_t count = emit_ == Emit::kChanges ? std::max<int64_t>(most / 2, 1) : most;
  const auto groups = absl::MakeConstSpan(touched_).subspan(next_, count);
  next_ += groups.size();
  std::vector<int64_t> weights;
  weights.reserve(groups.size());
  for (const uint32_t group : groups) weights.push_back(groups_[group].weight);
  std::vector<Tensor> results = combiner_->Results(groups, weights);
  if (outlives_times()) return Changes(groups, results);
  return All(groups, std::move(results));
}

Tensor GroupedState::OriginsOf(absl::Span<const uint32_t> groups) const {
  Tensor origins(DType::kI64, {static_cast<int64_t>(groups.size())});
  int64_t* origin = origins.mutable_data<int64_t>();
  for (const uint32_t group : groups) *origin++ = groups_[group].origin;
  return origins;
}

// The results of all groups that have one.
RecordBatch GroupedState::All(absl::Span<const uint32_t> groups,
                              std::vector<Tensor> results) const {
  std::vector<int64_t> there;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (combiner_->IsThere(groups[i], groups_[groups[i]].weight)) there.push_back(i);
  }
  RecordBatch all = {.columns = Joined(index_.Keys(groups), results), .origins = OriginsOf(groups)};
  return there.size() == groups.size() ? all : SelectRows(all, there);
}

// What is to be known of groups whose results are others now.
RecordBatch GroupedState::Changes(absl::Span<const uint32_t> groups,
                                  const std::vector<Tensor>& results) {
  std::vector<uint32_t> gone;
  Choice come;
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t group = groups[i];
    const auto row = static_cast<int64_t>(i);
    const bool holds = combiner_->IsThere(group, groups_[group].weight);
    const bool held = past_[group].holds;
    if (holds == held && (!holds || sent_rows_.Equals(group, results, row))) continue;
    if (held) gone.push_back(group);
    if (holds) come.Add(group, row);
  }
  std::vector<RecordBatch> changes;
  if (emit_ == Emit::kChanges) changes.push_back(OldResults(gone));
  changes.push_back(NewResults(come, results));
  for (const uint32_t group : gone) past_[group].holds = false;
  for (size_t i = 0; i < come.groups.size(); ++i) {
    const uint32_t group = come.groups[i];
    past_[group].origin = groups_[group].origin;
    past_[group].holds = true;
    sent_rows_.Set(group, results, come.rows[i]);
  }
  RecordBatch all = ConcatBatches(changes, type_);
  for (const uint32_t group : groups) Forget(group);
  return all;
}

RecordBatch GroupedState::OldResults(absl::Span<const uint32_t> groups) const {
  Tensor origins(DType::kI64, {static_cast<int64_t>(groups.size())});
  int64_t* origin = origins.mutable_data<int64_t>();
  for (const uint32_t group : groups) *origin++ = past_[group].origin;
  return {.columns = Joined(index_.Keys(groups), sent_rows_.Rows(groups)),
          .origins = std::move(origins),
          .weights = Filled(static_cast<int64_t>(groups.size()), -1)};
}

RecordBatch GroupedState::NewResults(const Choice& chosen,
                                     const std::vector<Tensor>& results) const {
  std::vector<Tensor> values;
  for (const Tensor& column : results) {
    values.push_back(GatherRows(ColumnRows::Of(column), chosen.rows));
  }
  return {.columns = Joined(index_.Keys(chosen.groups), values),
          .origins = OriginsOf(chosen.groups)};
}

void GroupedState::Forget(uint32_t group) {
  if (groups_[group].weight != 0 || past_[group].holds || !combiner_->Forget(group)) return;
  groups_[group] = Group();
  past_[group] = Past();
  index_.Free(group);
}

int64_t GroupedState::bytes() const {
  const size_t own = groups_.capacity() * sizeof(Group) + past_.capacity() * sizeof(Past) +
                     (numbers_.capacity() + touched_.capacity()) * sizeof(uint32_t);
  const int64_t sorted = sorted_.has_value() ? sorted_->bytes() : 0;
  return index_.bytes() + combiner_->bytes() + sent_rows_.bytes() + sorted +
         static_cast<int64_t>(own);
}

}  // namespace weir
