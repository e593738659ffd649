#include "common/flow/flow_wire.h"

#include <utility>

#include "common/base/status.h"
#include "common/plan/frames.h"

namespace weir {

v1::RecordBatch HeaderOf(const RecordBatch& batch) {
  v1::RecordBatch header;
  for (const Tensor& column : batch.columns) *header.add_columns() = HeaderOf(column);
  *header.mutable_origins() = HeaderOf(batch.origins);
  if (batch.weights) *header.mutable_weights() = HeaderOf(*batch.weights);
  return header;
}

std::vector<Tensor> PayloadsOf(const RecordBatch& batch) {
  std::vector<Tensor> payloads = batch.columns;
  payloads.push_back(batch.origins);
  if (batch.weights) payloads.push_back(*batch.weights);
  return payloads;
}

absl::StatusOr<RecordBatch> BatchFrom(const v1::RecordBatch& header, std::vector<Tensor> payloads,
                                      const RecordType& type, std::string_view what) {
  const size_t columns = static_cast<size_t>(header.columns_size());
  if (payloads.size() != columns + (header.has_weights() ? 2 : 1)) {
    return InvalidArgument(what, ": records came with ", payloads.size(), " tensors");
  }
  RecordBatch batch;
  if (header.has_weights()) batch.weights = payloads.back();
  batch.origins = payloads[columns];
  payloads.resize(columns);
  batch.columns = std::move(payloads);
  WEIR_RETURN_IF_ERROR(CheckBatch(batch, type, what));
  return batch;
}

std::string NameOfLeftOut(const Tensor& constant) { return constant.type().ToString(); }

absl::StatusOr<Tensor> StandIn(std::string_view name) {
  WEIR_ASSIGN_OR_RETURN(const TensorType type, TensorType::Parse(name));
  if (!type.shape.is_static()) return InvalidArgument("'", name, "' is no type of fixed size");
  const Extents extents = type.shape.extents();
  WEIR_RETURN_IF_ERROR(CheckedNumElements(extents, type.dtype).status());
  return Tensor::Zeros(type.dtype, {}).BroadcastInDim(extents, {});
}

v1::FlowTime ToWire(const Timestamp& time) {
  v1::FlowTime message;
  for (const int64_t coordinate : time.coordinates()) message.add_coordinates(coordinate);
  return message;
}

absl::StatusOr<Timestamp> TimeFrom(const v1::FlowTime& message, int depth) {
  if (message.coordinates_size() != depth + 1) {
    return InvalidArgument("a time with ", message.coordinates_size(), " coordinates where ",
                           depth + 1, " are needed");
  }
  Coordinates coordinates;
  for (const int64_t coordinate : message.coordinates()) {
    if (coordinate < 0) return InvalidArgument("a time with the coordinate ", coordinate);
    coordinates.push_back(coordinate);
  }
  return Timestamp(std::move(coordinates));
}

}  // namespace weir
