#include "client/python/native/record_batches.h"

#include <pybind11/numpy.h>

#include <string>
#include <utility>
#include <vector>

#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "common/base/status.h"

namespace py = pybind11;

namespace weir::python {
namespace {

absl::Status CheckRows(const std::vector<Tensor>& columns) {
  if (columns.empty()) return InvalidArgument("records have a column at least");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].rank() == 0) return InvalidArgument("column ", i, " has no axis of records");
    if (columns[i].extent(0) == columns[0].extent(0)) continue;
    return InvalidArgument("column 0 has ", columns[0].extent(0), " records and column ", i, " ",
                           columns[i].extent(0));
  }
  return absl::OkStatus();
}

}  // namespace

RecordBatch ToBatch(const py::sequence& columns, const py::object& weights, int64_t first_origin) {
  std::vector<Tensor> tensors;
  for (const py::handle& column : columns) tensors.push_back(ToTensor(py::cast<py::array>(column)));
  RaiseIfError(CheckRows(tensors));
  RecordBatch batch = MakeBatch(std::move(tensors), first_origin);
  if (weights.is_none()) return batch;
  batch.weights = ToTensor(weights.cast<py::array>());
  const bool fits = batch.weights->dtype() == DType::kI64 && batch.weights->rank() == 1 &&
                    batch.weights->extent(0) == batch.size();
  if (!fits) {
    Raise(InvalidArgument("weights are i64[", batch.size(), "], one for each record, found ",
                          batch.weights->type().ToString()));
  }
  return batch;
}

py::list FromRecordType(const RecordType& type) {
  py::list columns;
  for (const TensorType& column : type) {
    columns.append(py::make_tuple(std::string(DTypeName(column.dtype)), FromShape(column.shape)));
  }
  return columns;
}

py::tuple FromBatch(const RecordBatch& batch) {
  py::list columns;
  for (const Tensor& column : batch.columns) columns.append(ToArray(column, Memory::kShared));
  Tensor weights(DType::kI64, {batch.size()});
  for (int64_t i = 0; i < batch.size(); ++i) weights.mutable_data<int64_t>()[i] = batch.weight(i);
  return py::make_tuple(columns, ToArray(weights, Memory::kShared));
}

}  // namespace weir::python
