#include "client/api/chunks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/status.h"
#include "common/plan/frames.h"

namespace weir {

bool WriteChunks(uint32_t index, const Tensor& tensor,
                 const std::function<bool(v1::TensorChunk chunk)>& write) {
  const Tensor dense = tensor.Contiguous();
  const int64_t bytes = dense.num_bytes();
  int64_t offset = 0;
  do {
    v1::TensorChunk chunk;
    chunk.set_index(index);
    if (offset == 0) *chunk.mutable_header() = HeaderOf(tensor);
    chunk.set_offset(static_cast<uint64_t>(offset));
    const int64_t size = std::min(kChunkBytes, bytes - offset);
    if (size > 0) {
      chunk.set_data(reinterpret_cast<const char*>(dense.raw_data()) + offset,
                     static_cast<size_t>(size));
    }
    offset += size;
    if (!write(std::move(chunk))) return false;
  } while (offset < bytes);
  return true;
}

absl::Status ChunkReader::Add(const v1::TensorChunk& chunk) {
  if (chunk.has_header()) {
    if (chunk.index() != tensors_.size() ||
        (!tensors_.empty() && filled_ != tensors_.back().num_bytes())) {
      return InvalidArgument("tensor ", chunk.index(), " begins out of order");
    }
    WEIR_RETURN_IF_ERROR(BytesOf(chunk.header()).status());
    const Extents extents(chunk.header().extents().begin(), chunk.header().extents().end());
    tensors_.emplace_back(*DTypeFromWire(static_cast<int>(chunk.header().dtype())), extents);
    filled_ = 0;
  }
  if (tensors_.empty() || chunk.index() + 1 != tensors_.size() ||
      chunk.offset() != static_cast<uint64_t>(filled_)) {
    return InvalidArgument("a chunk of tensor ", chunk.index(), " comes out of order");
  }
  const int64_t size = static_cast<int64_t>(chunk.data().size());
  if (size > tensors_.back().num_bytes() - filled_) {
    return InvalidArgument("tensor ", chunk.index(), " has more bytes than its header says");
  }
  if (size > 0) {
    std::memcpy(tensors_.back().raw_mutable_data() + filled_, chunk.data().data(),
                static_cast<size_t>(size));
  }
  filled_ += size;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> ChunkReader::Finish() {
  if (!tensors_.empty() && filled_ != tensors_.back().num_bytes()) {
    return absl::DataLossError(StrCat("tensor ", tensors_.size() - 1, " is not complete"));
  }
  return std::move(tensors_);
}

}  // namespace weir
