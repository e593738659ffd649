#include "client/api/chunks.h"

#include <algorithm>
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
    if (bytes_ != nullptr && !complete()) {
      return InvalidArgument("tensor ", chunk.index(), " begins before the last one is complete");
    }
    Close();
    if (chunk.index() != tensors_.size()) {
      return InvalidArgument("tensor ", chunk.index(), " begins out of order");
    }
    WEIR_ASSIGN_OR_RETURN(wanted_, BytesOf(chunk.header()));
    header_ = chunk.header();
    bytes_ = std::make_shared<std::string>();
  }
  if (bytes_ == nullptr || chunk.index() != tensors_.size() || chunk.offset() != bytes_->size()) {
    return InvalidArgument("a chunk of tensor ", chunk.index(), " comes out of order");
  }
  if (static_cast<int64_t>(chunk.data().size()) > wanted_ - static_cast<int64_t>(bytes_->size())) {
    return InvalidArgument("tensor ", chunk.index(), " has more bytes than its header says");
  }
  bytes_->append(chunk.data());
  return absl::OkStatus();
}

void ChunkReader::Close() {
  if (bytes_ == nullptr) return;
  const Extents extents(header_.extents().begin(), header_.extents().end());
  const DType dtype = *DTypeFromWire(static_cast<int>(header_.dtype()));
  auto buffer = Buffer::Wrap(bytes_->data(), bytes_->size(), [bytes = bytes_] {});
  tensors_.emplace_back(dtype, extents, RowMajorStrides(extents), 0, std::move(buffer));
  bytes_ = nullptr;
}

absl::StatusOr<std::vector<Tensor>> ChunkReader::Finish() {
  if (bytes_ != nullptr && !complete()) {
    return absl::DataLossError(StrCat("tensor ", tensors_.size(), " is not complete"));
  }
  Close();
  return std::move(tensors_);
}

}  // namespace weir
