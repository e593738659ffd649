#include "common/flow/attach_stream.h"

#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

absl::Status CheckNumber(const std::vector<Tensor>& tensors, size_t wanted, std::string_view what) {
  if (tensors.size() == wanted) return absl::OkStatus();
  return InvalidArgument(what, " came with ", tensors.size(), " tensors instead of ", wanted);
}

std::optional<Tensor> TakeWeights(const v1::FlowRecords& records, std::vector<Tensor>* tensors) {
  if (!records.has_weights()) return std::nullopt;
  Tensor weights = std::move(tensors->back());
  tensors->pop_back();
  return weights;
}

}  // namespace

std::vector<Tensor> TensorsWithoutOrigins(const RecordBatch& batch) {
  std::vector<Tensor> tensors = batch.columns;
  if (batch.weights) tensors.push_back(*batch.weights);
  return tensors;
}

std::vector<Tensor> TensorsWithOrigins(const RecordBatch& batch) {
  std::vector<Tensor> tensors = batch.columns;
  tensors.push_back(batch.origins);
  if (batch.weights) tensors.push_back(*batch.weights);
  return tensors;
}

absl::StatusOr<RecordBatch> BatchWithOrigins(const v1::FlowRecords& records,
                                             std::vector<Tensor> tensors, const RecordType& type,
                                             std::string_view what) {
  const size_t extra = records.has_weights() ? 2 : 1;
  WEIR_RETURN_IF_ERROR(CheckNumber(tensors, type.size() + extra, what));
  RecordBatch batch;
  batch.weights = TakeWeights(records, &tensors);
  batch.origins = std::move(tensors.back());
  tensors.pop_back();
  batch.columns = std::move(tensors);
  WEIR_RETURN_IF_ERROR(CheckBatch(batch, type, what));
  return batch;
}

absl::StatusOr<RecordBatch> BatchWithoutOrigins(const v1::FlowRecords& records,
                                                std::vector<Tensor> tensors, int64_t first_origin,
                                                const RecordType& type, std::string_view what) {
  const size_t extra = records.has_weights() ? 1 : 0;
  WEIR_RETURN_IF_ERROR(CheckNumber(tensors, type.size() + extra, what));
  std::optional<Tensor> weights = TakeWeights(records, &tensors);
  if (tensors.empty() || tensors[0].rank() == 0) {
    return InvalidArgument(what, ": column 0 has no axis of records");
  }
  RecordBatch batch = MakeBatch(std::move(tensors), first_origin);
  if (weights) batch.weights = weights->Contiguous();
  WEIR_RETURN_IF_ERROR(CheckBatch(batch, type, what));
  return batch;
}

RecordsCutter::RecordsCutter(v1::FlowRecords head, std::vector<Tensor> tensors, size_t piece_bytes)
    : head_(std::move(head)),
      piece_bytes_(piece_bytes),
      chunks_(std::move(tensors), piece_bytes),
      has_next_(chunks_.Next(&next_)) {}

bool RecordsCutter::Next(v1::FlowRecords* piece) {
  if (is_done_) return false;
  *piece = head_;
  size_t bytes = 0;
  while (has_next_ && bytes < piece_bytes_) {
    bytes += next_.data().size();
    *piece->add_chunks() = std::move(next_);
    has_next_ = chunks_.Next(&next_);
  }
  is_done_ = !has_next_;
  piece->set_is_last_piece(is_done_);
  return true;
}

absl::StatusOr<bool> RecordsAssembler::Add(v1::FlowRecords* records, std::vector<Tensor>* tensors) {
  if (open_ == nullptr) {
    open_ = std::make_unique<ChunkAssembler>(limits_);
    head_ = *records;
    head_.clear_chunks();
  }
  if (records->port() != head_.port() || records->number() != head_.number()) {
    return absl::FailedPreconditionError(StrCat("a piece of batch ", records->number(), " of '",
                                                records->port(), "' came within batch ",
                                                head_.number(), " of '", head_.port(), "'"));
  }
  for (const v1::TensorChunk& chunk : records->chunks()) WEIR_RETURN_IF_ERROR(open_->Add(chunk));
  if (!records->is_last_piece()) return false;
  WEIR_ASSIGN_OR_RETURN(*tensors, open_->Finish());
  open_ = nullptr;
  *records = std::move(head_);
  return true;
}

}  // namespace weir
