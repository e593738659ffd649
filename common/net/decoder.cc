#include "common/net/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

constexpr size_t kMetaStep = size_t{64} << 10;
constexpr size_t kGrowth = 4;

}  // namespace

Decoder::Decoder(const LinkOptions& options, Admit admit, Emit emit)
    : options_(options), admit_(std::move(admit)), emit_(std::move(emit)) {}

absl::Span<std::byte> Decoder::Want() {
  std::byte* base = nullptr;
  switch (stage_) {
    case Stage::kHead:
      base = reinterpret_cast<std::byte*>(head_bytes_.data());
      break;
    case Stage::kMeta:
      base = reinterpret_cast<std::byte*>(meta_.data());
      break;
    case Stage::kSlice:
      base = buffer_.data;
      break;
    case Stage::kFailed:
      return {};
  }
  return {base + filled_, step_ - filled_};
}

absl::Status Decoder::Filled(size_t size) {
  filled_ += size;
  if (filled_ < step_) return absl::OkStatus();
  const absl::Status status = EndPart();
  if (!status.ok()) stage_ = Stage::kFailed;
  return status;
}

absl::Status Decoder::EndPart() {
  switch (stage_) {
    case Stage::kHead:
      return EndHead();
    case Stage::kMeta:
      return filled_ < meta_bytes_ ? GrowMeta() : EndMeta();
    case Stage::kSlice:
      return EndSlice();
    case Stage::kFailed:
      break;
  }
  return absl::InternalError("bytes were given to a decoder after an error");
}

absl::Status Decoder::Feed(std::string_view bytes) {
  if (stage_ == Stage::kFailed) return EndPart();
  while (!bytes.empty()) {
    const absl::Span<std::byte> want = Want();
    const size_t size = std::min(want.size(), bytes.size());
    std::memcpy(want.data(), bytes.data(), size);
    bytes.remove_prefix(size);
    WEIR_RETURN_IF_ERROR(Filled(size));
  }
  return absl::OkStatus();
}

std::string Decoder::Position() const {
  switch (stage_) {
    case Stage::kHead:
      return filled_ == 0 ? "" : StrCat("byte ", filled_, " of a frame head");
    case Stage::kMeta:
      return StrCat("byte ", filled_, " of ", meta_bytes_, " of a frame header");
    case Stage::kSlice:
      return StrCat("byte ", filled_, " of ", slice_sizes_[message_.frame.payload.size()],
                    " of payload slice ", message_.frame.payload.size());
    case Stage::kFailed:
      break;
  }
  return "";
}

absl::Status Decoder::EndHead() {
  WEIR_RETURN_IF_ERROR(DecodeHead(head_bytes_.data(), &head_));
  if (head_.header_bytes > options_.max_header_bytes) {
    return absl::ResourceExhaustedError(StrCat("frame header of ", head_.header_bytes,
                                               " bytes is over the limit of ",
                                               options_.max_header_bytes));
  }
  if (head_.slices > options_.max_slices) {
    return absl::ResourceExhaustedError(StrCat(
        "frame of ", head_.slices, " payload slices is over the limit of ", options_.max_slices));
  }
  if (head_.payload_bytes > options_.max_payload_bytes) {
    return absl::ResourceExhaustedError(StrCat("frame payload of ", head_.payload_bytes,
                                               " bytes is over the limit of ",
                                               options_.max_payload_bytes));
  }
  meta_bytes_ = head_.header_bytes + 8 * size_t{head_.slices};
  meta_.clear();
  filled_ = 0;
  stage_ = Stage::kMeta;
  return meta_bytes_ == 0 ? EndMeta() : GrowMeta();
}

absl::Status Decoder::GrowMeta() {
  step_ = std::min(meta_bytes_, std::max(kMetaStep, kGrowth * filled_));
  meta_.resize(step_);
  return absl::OkStatus();
}

absl::Status Decoder::EndMeta() {
  if (!HeadChecksumMatches(head_bytes_.data(), meta_)) {
    return absl::DataLossError("checksum of a frame header does not match: bytes were damaged");
  }
  slice_sizes_.resize(head_.slices);
  size_t left = head_.payload_bytes;
  for (size_t i = 0; i < slice_sizes_.size(); ++i) {
    uint64_t size;
    std::memcpy(&size, meta_.data() + 8 * i, sizeof(size));
    if (size > left) return absl::DataLossError("payload slices are longer than their frame");
    slice_sizes_[i] = size;
    left -= size;
  }
  if (left != 0) return absl::DataLossError("payload slices are shorter than their frame");

  message_ = {.kind = head_.kind,
              .code = head_.code,
              .generation = head_.generation,
              .credit = head_.credit,
              .payload_crc = head_.payload_crc};
  message_.frame.header = meta_.substr(8 * slice_sizes_.size());
  const size_t cost = FrameCost(message_.frame) + head_.payload_bytes;
  WEIR_RETURN_IF_ERROR(admit_(head_.kind, head_.generation, cost));
  return BeginSlice();
}

// Steps over empty slices; ends the message behind the last one.
absl::Status Decoder::BeginSlice() {
  stage_ = Stage::kSlice;
  filled_ = 0;
  while (message_.frame.payload.size() < slice_sizes_.size()) {
    const size_t index = message_.frame.payload.size();
    const size_t size = slice_sizes_[index];
    step_ = size;
    WEIR_ASSIGN_OR_RETURN(buffer_, options_.allocate(message_.frame.header, index, size));
    if (size > 0) return absl::OkStatus();
    message_.frame.payload.push_back({.owner = std::move(buffer_.owner), .data = buffer_.data});
  }
  return EndMessage();
}

absl::Status Decoder::EndSlice() {
  message_.frame.payload.push_back(
      {.owner = std::move(buffer_.owner), .data = buffer_.data, .size = filled_});
  return BeginSlice();
}

absl::Status Decoder::EndMessage() {
  if (ChecksumPayload(message_.frame) != message_.payload_crc) {
    return absl::DataLossError("checksum of a frame payload does not match: bytes were damaged");
  }
  stage_ = Stage::kHead;
  filled_ = 0;
  step_ = kWireHeadBytes;
  emit_(std::exchange(message_, {}));
  return absl::OkStatus();
}

}  // namespace weir
