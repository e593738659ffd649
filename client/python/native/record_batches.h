// Between NumPy arrays and batches of records. REQUIRES of all functions: the caller holds the
// interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_RECORD_BATCHES_H_
#define WEIR_CLIENT_PYTHON_NATIVE_RECORD_BATCHES_H_

#include <pybind11/pybind11.h>

#include <cstdint>

#include "common/flow/record_batch.h"

namespace weir::python {

// Raises for no column, columns without an axis of records or of different lengths, and weights
// that are not i64 of that length. `weights` may be None. The memory of large arrays is shared.
RecordBatch ToBatch(const pybind11::sequence& columns, const pybind11::object& weights,
                    int64_t first_origin);
// Returns: [(element type, shape)].
pybind11::list FromRecordType(const RecordType& type);
// Returns: (list of arrays, weights).
pybind11::tuple FromBatch(const RecordBatch& batch);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_RECORD_BATCHES_H_
