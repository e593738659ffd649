// Between NumPy arrays and tensors, and between Python values and what the graph takes. REQUIRES of
// all functions: the caller holds the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_ARRAYS_H_
#define WEIR_CLIENT_PYTHON_NATIVE_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/attr.h"
#include "common/tensor/tensor.h"

namespace weir::python {

// Makes NumPy's types ready. Called when the module is loaded: no other thread may wait for them
// while this one waits for the interpreter.
void LoadNumpyTypes();

// Raises for a NumPy type without a counterpart (strings, dates, objects, f128).
DType DTypeOf(const pybind11::dtype& dtype);
// Reads `f32`; raises for other text.
DType DTypeFromName(const std::string& name);

// A tensor that shares the array's memory if that is row-major, large and safe to read past its
// end by one vector, else a copy. A shared array must not change while the tensor lives.
Tensor ToTensor(const pybind11::array& array);
// An array that owns the tensor, without a copy unless `shared` (somebody else sees the memory), it
// is small, or the elements are no NumPy type: bf16 becomes float32.
enum class Memory { kOwn, kShared };
pybind11::array ToArray(const Tensor& tensor, Memory memory);

// Integers, Dims and texts such as "2*n+1".
std::vector<Dim> ToDims(const pybind11::handle& dims);
// Integers, and a Dim for what is no number.
pybind11::tuple FromShape(const Shape& shape);

// A value converted to this kind. Errors: InvalidArgument, "must be int, found 'x'".
absl::StatusOr<Attr> ToAttr(Attr::Kind kind, const pybind11::handle& value);
// The value of attribute `name` of `op`, converted to the kind that the op declares.
Attr ToAttr(const std::string& op, const std::string& name, const pybind11::handle& value);
// The inverse.
pybind11::object FromAttr(const Attr& attr);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_ARRAYS_H_
