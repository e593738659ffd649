#include "common/net/link_frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/status.h"
#include "weir/v1/link.pb.h"

namespace weir {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t TagOf(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t kHeader = TagOf(v1::LinkFrame::kHeaderFieldNumber);
constexpr uint32_t kPayload = TagOf(v1::LinkFrame::kPayloadFieldNumber);
constexpr uint32_t kReceived =
    WireFormatLite::MakeTag(v1::LinkFrame::kReceivedFieldNumber, WireFormatLite::WIRETYPE_VARINT);

grpc::Slice Share(Slice slice) {
  auto* data = const_cast<std::byte*>(slice.data);
  const size_t size = slice.size;
  auto* owner = new std::shared_ptr<const void>(std::move(slice.owner));
  return grpc::Slice(
      data, size, [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); },
      owner);
}

absl::Status NoFrame() {
  return absl::DataLossError("a message of the stream is no LinkFrame: bytes were damaged");
}

}  // namespace

grpc::ByteBuffer EncodeLinkFrame(const std::string& header, std::vector<Slice> payload,
                                 uint64_t received) {
  size_t payload_bytes = 0;
  for (const Slice& slice : payload) payload_bytes += slice.size;
  std::string front;
  {
    google::protobuf::io::StringOutputStream stream(&front);
    CodedOutputStream out(&stream);
    if (received > 0) {
      out.WriteTag(kReceived);
      out.WriteVarint64(received);
    }
    if (!header.empty()) {
      out.WriteTag(kHeader);
      out.WriteVarint32(static_cast<uint32_t>(header.size()));
      out.WriteString(header);
    }
    if (payload_bytes > 0) {
      out.WriteTag(kPayload);
      out.WriteVarint32(static_cast<uint32_t>(payload_bytes));
    }
  }
  std::vector<grpc::Slice> slices;
  slices.reserve(1 + payload.size());
  slices.emplace_back(front);
  for (Slice& slice : payload) slices.push_back(Share(std::move(slice)));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::StatusOr<uint64_t> DecodeLinkFrame(
    grpc::ByteBuffer* message, absl::FunctionRef<absl::Status(std::string_view bytes)> take) {
  grpc::ProtoBufferReader reader(message);
  CodedInputStream in(&reader);
  uint64_t received = 0;
  while (const uint32_t tag = in.ReadTag()) {
    if (tag == kReceived) {
      if (!in.ReadVarint64(&received)) return NoFrame();
      continue;
    }
    if (tag != kHeader && tag != kPayload) {
      if (!WireFormatLite::SkipField(&in, tag)) return NoFrame();
      continue;
    }
    uint32_t left = 0;
    if (!in.ReadVarint32(&left)) return NoFrame();
    while (left > 0) {
      const void* data = nullptr;
      int there = 0;
      if (!in.GetDirectBufferPointer(&data, &there)) return NoFrame();
      const int size = static_cast<int>(std::min<uint32_t>(left, there));
      WEIR_RETURN_IF_ERROR(take({static_cast<const char*>(data), static_cast<size_t>(size)}));
      in.Skip(size);
      left -= size;
    }
  }
  if (!in.ConsumedEntireMessage()) return NoFrame();
  return received;
}

}  // namespace weir
