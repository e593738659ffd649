#include "common/plan/tensor_chunks.h"

#include <algorithm>
#include <cstring>

#include "common/base/status.h"
#include "common/plan/frames.h"

namespace weir {
namespace {

constexpr uint64_t kFirstReserve = uint64_t{4} << 20;

absl::Status OutOfOrder(const v1::TensorChunk& chunk, std::string_view what) {
  return absl::FailedPreconditionError(StrCat("chunk of tensor ", chunk.index(), " at byte ",
                                              chunk.offset(), " is out of order: ", what));
}

Extents ExtentsOf(const v1::TensorHeader& header) {
  return Extents(header.extents().begin(), header.extents().end());
}

DType DTypeOf(const v1::TensorHeader& header) {
  return *DTypeFromWire(static_cast<int>(header.dtype()));
}

std::vector<Tensor> Dense(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) tensor = tensor.Contiguous();
  return tensors;
}

}  // namespace

absl::Status ChunkAssembler::Begin(const v1::TensorChunk& chunk) {
  if (!chunk.has_header()) return OutOfOrder(chunk, "the first chunk of a tensor has its header");
  if (chunk.index() != tensors_.size()) {
    return OutOfOrder(chunk, StrCat("tensor ", tensors_.size(), " comes next"));
  }
  if (tensors_.size() >= limits_.max_tensors) {
    return absl::ResourceExhaustedError(
        StrCat("at most ", limits_.max_tensors, " tensors are allowed"));
  }
  if (chunk.header().extents_size() > kMaxRank) {
    return InvalidArgument("tensor ", chunk.index(), " has rank ", chunk.header().extents_size(),
                           "; at most ", kMaxRank, " is allowed");
  }
  absl::StatusOr<int64_t> bytes = BytesOf(chunk.header());
  WEIR_RETURN_IF_ERROR(Annotate(bytes.status(), StrCat("tensor ", chunk.index())));
  wanted_ = static_cast<uint64_t>(*bytes);
  if (wanted_ > limits_.max_bytes - total_bytes_) {
    return absl::ResourceExhaustedError(StrCat("tensor ", chunk.index(), " has ", wanted_,
                                               " bytes; all tensors together may have ",
                                               limits_.max_bytes));
  }
  total_bytes_ += wanted_;
  header_ = chunk.header();
  received_ = 0;
  buffer_ = nullptr;
  open_ = true;
  return absl::OkStatus();
}

absl::Status ChunkAssembler::Reserve(uint64_t bytes) {
  if (buffer_ != nullptr && buffer_->size() >= bytes) return absl::OkStatus();
  const uint64_t size = std::min(wanted_, std::max(kFirstReserve, 2 * bytes));
  WEIR_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> larger, Buffer::TryAllocate(size));
  if (received_ > 0) std::memcpy(larger->data(), buffer_->data(), received_);
  buffer_ = std::move(larger);
  return absl::OkStatus();
}

void ChunkAssembler::End() {
  const Extents extents = ExtentsOf(header_);
  if (wanted_ == 0) {
    tensors_.emplace_back(DTypeOf(header_), extents);
  } else {
    tensors_.emplace_back(DTypeOf(header_), extents, RowMajorStrides(extents), 0,
                          std::move(buffer_));
  }
  open_ = false;
}

absl::Status ChunkAssembler::Add(const v1::TensorChunk& chunk) {
  if (!open_) {
    WEIR_RETURN_IF_ERROR(Begin(chunk));
  } else if (chunk.has_header() || chunk.index() != tensors_.size()) {
    return OutOfOrder(
        chunk, StrCat("tensor ", tensors_.size(), " has ", received_, " of ", wanted_, " bytes"));
  }
  if (chunk.offset() != received_) {
    return OutOfOrder(chunk, StrCat("byte ", received_, " comes next"));
  }
  const uint64_t size = chunk.data().size();
  if (size > wanted_ - received_) {
    return InvalidArgument("tensor ", chunk.index(), " has more than the ", wanted_,
                           " bytes of its header");
  }
  if (size > 0) {
    WEIR_RETURN_IF_ERROR(Reserve(received_ + size));
    std::memcpy(buffer_->data() + received_, chunk.data().data(), size);
    received_ += size;
  }
  if (complete()) End();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> ChunkAssembler::Finish() {
  if (open_) {
    return absl::FailedPreconditionError(StrCat("the stream ends within tensor ", tensors_.size(),
                                                ", after ", received_, " of ", wanted_, " bytes"));
  }
  return std::move(tensors_);
}

ChunkCutter::ChunkCutter(std::vector<Tensor> tensors, size_t chunk_bytes)
    : tensors_(Dense(std::move(tensors))), chunk_bytes_(chunk_bytes) {}

bool ChunkCutter::Next(v1::TensorChunk* chunk) {
  chunk->Clear();
  if (index_ == tensors_.size()) return false;
  const Tensor& tensor = tensors_[index_];
  const size_t bytes = static_cast<size_t>(tensor.num_bytes());
  const size_t size = std::min(chunk_bytes_, bytes - offset_);
  chunk->set_index(static_cast<uint32_t>(index_));
  chunk->set_offset(offset_);
  if (offset_ == 0) *chunk->mutable_header() = HeaderOf(tensor);
  if (size > 0) {
    chunk->set_data(reinterpret_cast<const char*>(tensor.raw_data()) + offset_, size);
  }
  offset_ += size;
  if (offset_ == bytes) {
    ++index_;
    offset_ = 0;
  }
  return true;
}

absl::StatusOr<Tensor> FromMessage(const v1::Tensor& message) {
  if (message.header().extents_size() > kMaxRank) {
    return InvalidArgument("rank ", message.header().extents_size(), " is above ", kMaxRank);
  }
  WEIR_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(message.header()));
  if (static_cast<uint64_t>(bytes) != message.data().size()) {
    return InvalidArgument("the header says ", bytes, " bytes, but ", message.data().size(),
                           " came");
  }
  Tensor tensor(DTypeOf(message.header()), ExtentsOf(message.header()));
  if (bytes > 0)
    std::memcpy(tensor.raw_mutable_data(), message.data().data(), message.data().size());
  return tensor;
}

void ToMessage(const Tensor& tensor, v1::Tensor* message) {
  *message->mutable_header() = HeaderOf(tensor);
  std::string* data = message->mutable_data();
  data->resize(static_cast<size_t>(tensor.num_bytes()));
  if (!data->empty()) tensor.CopyTo(data->data());
}

}  // namespace weir
