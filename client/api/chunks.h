// Tensors as chunks of at most kChunkBytes, so that every message passes the limits of any gRPC
// peer. The reader belongs to one stream; thread-compatible.
#ifndef WEIR_CLIENT_API_CHUNKS_H_
#define WEIR_CLIENT_API_CHUNKS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"
#include "weir/v1/tensor.pb.h"

namespace weir {

inline constexpr int64_t kChunkBytes = int64_t{1} << 20;

// Calls `write` for each chunk of `tensor`, at least once; stops when it returns false.
bool WriteChunks(uint32_t index, const Tensor& tensor,
                 const std::function<bool(v1::TensorChunk chunk)>& write);

// Puts chunks together again. Memory is taken as bytes arrive, not as headers announce them.
class ChunkReader {
 public:
  // Returns: INVALID_ARGUMENT for chunks out of order or beyond what the header says.
  absl::Status Add(const v1::TensorChunk& chunk);
  // Returns: the tensors, or an error if one is not complete.
  absl::StatusOr<std::vector<Tensor>> Finish();

 private:
  bool complete() const { return static_cast<int64_t>(bytes_->size()) == wanted_; }
  // Turns the bytes of the tensor under way into a tensor.
  void Close();

  std::vector<Tensor> tensors_;  // complete ones
  // The tensor under way.
  v1::TensorHeader header_;
  int64_t wanted_ = 0;
  std::shared_ptr<std::string> bytes_;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_CHUNKS_H_
