// Tensors in pieces, so that every message passes the limits of any gRPC peer: from tensors to
// chunks, and from chunks to tensors, at the coordinator and in clients. Thread-compatible; each
// stream owns one.
//
// Nothing that the other side says is believed before it is checked, and memory is taken as bytes
// arrive, not as headers announce them.
#ifndef WEIR_COMMON_PLAN_TENSOR_CHUNKS_H_
#define WEIR_COMMON_PLAN_TENSOR_CHUNKS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "weir/v1/tensor.pb.h"

namespace weir {

inline constexpr size_t kChunkBytes = size_t{1} << 20;

struct ChunkLimits {
  size_t max_tensors = 4096;
  uint64_t max_bytes = uint64_t{64} << 30;  // of all tensors
};

class ChunkAssembler {
 public:
  explicit ChunkAssembler(const ChunkLimits& limits = {}) : limits_(limits) {}

  // Takes the next chunk; tensors and their bytes come in order. Returns: FAILED_PRECONDITION for
  // one out of order, INVALID_ARGUMENT for a header that makes no sense, RESOURCE_EXHAUSTED beyond
  // the limits.
  absl::Status Add(const v1::TensorChunk& chunk);
  // Returns: all tensors; FAILED_PRECONDITION if the last one is not complete.
  absl::StatusOr<std::vector<Tensor>> Finish();

 private:
  absl::Status Begin(const v1::TensorChunk& chunk);
  absl::Status Reserve(uint64_t bytes);
  void End();
  bool complete() const { return received_ == wanted_; }

  const ChunkLimits limits_;
  std::vector<Tensor> tensors_;  // complete ones
  uint64_t total_bytes_ = 0;     // announced by all headers
  // The tensor under way.
  bool open_ = false;
  v1::TensorHeader header_;
  uint64_t wanted_ = 0;
  uint64_t received_ = 0;
  std::shared_ptr<Buffer> buffer_;
};

class ChunkCutter {
 public:
  explicit ChunkCutter(std::vector<Tensor> tensors, size_t chunk_bytes = kChunkBytes);

  // Fills `chunk` with the next piece. Returns: false after the last one.
  bool Next(v1::TensorChunk* chunk);

 private:
  const std::vector<Tensor> tensors_;
  const size_t chunk_bytes_;
  size_t index_ = 0;
  size_t offset_ = 0;
};

// Whole tensors inside one message.
absl::StatusOr<Tensor> FromMessage(const v1::Tensor& message);
void ToMessage(const Tensor& tensor, v1::Tensor* message);

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_TENSOR_CHUNKS_H_
