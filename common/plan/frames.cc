#include "common/plan/frames.h"

#include <memory>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

Slice SliceOfTensor(const Tensor& tensor) {
  auto dense = std::make_shared<Tensor>(tensor.Contiguous());
  Slice slice;
  slice.size = static_cast<size_t>(dense->num_bytes());
  slice.data = slice.size == 0 ? nullptr : dense->raw_data();
  slice.owner = std::move(dense);
  return slice;
}

template <class Headers>
absl::StatusOr<std::vector<Tensor>> Payloads(const Frame& frame, const Headers& headers) {
  if (frame.payload.size() != static_cast<size_t>(headers.size())) {
    return InvalidArgument("a message with ", headers.size(), " tensors came with ",
                           frame.payload.size(), " payloads");
  }
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < frame.payload.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(*headers[i], frame.payload[i]));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

using Headers = std::vector<const v1::TensorHeader*>;

void AddFeeds(const google::protobuf::RepeatedPtrField<v1::Feed>& feeds, Headers* headers) {
  for (const v1::Feed& feed : feeds) headers->push_back(&feed.header());
}

void AddBatch(const v1::RecordBatch& batch, Headers* headers) {
  for (const v1::TensorHeader& header : batch.columns()) headers->push_back(&header);
  headers->push_back(&batch.origins());
  if (batch.has_weights()) headers->push_back(&batch.weights());
}

}  // namespace

v1::TensorHeader HeaderOf(const Tensor& tensor) {
  v1::TensorHeader header;
  header.set_dtype(static_cast<uint32_t>(tensor.dtype()));
  for (int64_t extent : tensor.extents()) header.add_extents(extent);
  return header;
}

absl::StatusOr<int64_t> BytesOf(const v1::TensorHeader& header) {
  const std::optional<DType> dtype = DTypeFromWire(static_cast<int>(header.dtype()));
  if (!dtype.has_value()) return InvalidArgument("there is no element type ", header.dtype());
  const Extents extents(header.extents().begin(), header.extents().end());
  WEIR_ASSIGN_OR_RETURN(const int64_t elements, CheckedNumElements(extents, *dtype));
  return elements * SizeOf(*dtype);
}

absl::StatusOr<Tensor> TensorOf(const v1::TensorHeader& header, const Slice& slice) {
  WEIR_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(header));
  if (static_cast<size_t>(bytes) != slice.size) {
    return InvalidArgument("a tensor of ", bytes, " bytes came as ", slice.size, " bytes");
  }
  const Extents extents(header.extents().begin(), header.extents().end());
  const DType dtype = *DTypeFromWire(static_cast<int>(header.dtype()));
  if (bytes == 0) return Tensor(dtype, extents);
  auto buffer =
      weir::Buffer::Wrap(const_cast<std::byte*>(slice.data), slice.size, [owner = slice.owner] {});
  return Tensor(dtype, extents, RowMajorStrides(extents), 0, std::move(buffer));
}

Frame EncodeFrame(const google::protobuf::MessageLite& message,
                  const std::vector<Tensor>& payloads) {
  Frame frame;
  frame.header = message.SerializeAsString();
  for (const Tensor& tensor : payloads) frame.payload.push_back(SliceOfTensor(tensor));
  return frame;
}

absl::StatusOr<FromWorker> DecodeFromWorker(const Frame& frame) {
  FromWorker out;
  if (!out.message.ParseFromString(frame.header)) {
    return InvalidArgument("this is no message of a worker");
  }
  Headers headers;
  if (out.message.has_run_finished()) AddFeeds(out.message.run_finished().results(), &headers);
  if (out.message.has_flow_output()) AddBatch(out.message.flow_output().batch(), &headers);
  const v1::ValueReport& report = out.message.value_report();
  if (report.reader() != 0 && !report.has_failure()) headers.push_back(&report.header());
  WEIR_ASSIGN_OR_RETURN(out.payloads, Payloads(frame, headers));
  return out;
}

absl::StatusOr<FromCoordinator> DecodeFromCoordinator(const Frame& frame) {
  FromCoordinator out;
  if (!out.message.ParseFromString(frame.header)) {
    return InvalidArgument("this is no message of a coordinator");
  }
  Headers headers;
  if (out.message.has_start_run()) AddFeeds(out.message.start_run().feeds(), &headers);
  if (out.message.has_feed_flow()) AddBatch(out.message.feed_flow().batch(), &headers);
  for (const v1::NewValue& value : out.message.values().stores()) {
    headers.push_back(&value.header());
  }
  if (out.message.has_load_program()) {
    for (const v1::TensorHeader& header : out.message.load_program().blob_headers()) {
      headers.push_back(&header);
    }
  }
  WEIR_ASSIGN_OR_RETURN(out.payloads, Payloads(frame, headers));
  return out;
}

absl::StatusOr<FromPeer> DecodeFromPeer(const Frame& frame) {
  FromPeer out;
  if (!out.message.ParseFromString(frame.header)) {
    return InvalidArgument("this is no message of a worker to another");
  }
  Headers headers;
  if (out.message.has_rows()) headers.push_back(&out.message.rows().header());
  if (out.message.has_value_rows()) headers.push_back(&out.message.value_rows().header());
  if (out.message.has_flow_frame()) AddBatch(out.message.flow_frame().batch(), &headers);
  WEIR_ASSIGN_OR_RETURN(out.payloads, Payloads(frame, headers));
  return out;
}

}  // namespace weir
