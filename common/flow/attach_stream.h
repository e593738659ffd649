// What goes over Flows.Attach, with its tensors, and as pieces of a stream whose messages pass the
// limits of any gRPC peer. Inside of one process the former is handed over as it is.
//
// What is read may be damaged or hostile: it is checked, and memory is taken as bytes arrive.
// Thread-compatible; each direction of a stream owns one cutter or assembler at a time.
#ifndef WEIR_COMMON_FLOW_ATTACH_STREAM_H_
#define WEIR_COMMON_FLOW_ATTACH_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/record_batch.h"
#include "common/plan/tensor_chunks.h"
#include "weir/v1/flows.pb.h"

namespace weir {

// From the client, and to it. The tensors are those of `records`, whose chunks are empty.
struct ToFlow {
  v1::AttachRequest message;
  std::vector<Tensor> tensors;
};
struct FromFlow {
  v1::AttachResponse message;
  std::vector<Tensor> tensors;
};

// The tensors of a batch as they travel: columns, origins if they are asked for, weights.
std::vector<Tensor> TensorsWithoutOrigins(const RecordBatch& batch);
std::vector<Tensor> TensorsWithOrigins(const RecordBatch& batch);
// Errors: InvalidArgument, as CheckBatch, or another number of tensors. Without origins they are
// numbered from `first_origin`.
absl::StatusOr<RecordBatch> BatchWithOrigins(const v1::FlowRecords& records,
                                             std::vector<Tensor> tensors, const RecordType& type,
                                             std::string_view what);
absl::StatusOr<RecordBatch> BatchWithoutOrigins(const v1::FlowRecords& records,
                                                std::vector<Tensor> tensors, int64_t first_origin,
                                                const RecordType& type, std::string_view what);

// A batch as one or more messages, each of `piece_bytes` of tensors or a little more.
class RecordsCutter {
 public:
  RecordsCutter(v1::FlowRecords head, std::vector<Tensor> tensors,
                size_t piece_bytes = kChunkBytes);

  // Fills `piece` with the next one. Returns: false after the last one.
  bool Next(v1::FlowRecords* piece);

 private:
  const v1::FlowRecords head_;
  const size_t piece_bytes_;
  ChunkCutter chunks_;
  v1::TensorChunk next_;
  bool has_next_;
  bool is_done_ = false;
};

// The batches of a stream, from their pieces.
class RecordsAssembler {
 public:
  explicit RecordsAssembler(const ChunkLimits& limits) : limits_(limits) {}

  // Takes the next piece. Returns: whether it is the last one of its batch; `records` is then
  // without chunks and `tensors` are those of the batch. Errors: as ChunkAssembler;
  // FailedPrecondition for a piece of another batch in between.
  absl::StatusOr<bool> Add(v1::FlowRecords* records, std::vector<Tensor>* tensors);

 private:
  const ChunkLimits limits_;
  std::unique_ptr<ChunkAssembler> open_;  // null between batches
  v1::FlowRecords head_;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_ATTACH_STREAM_H_
