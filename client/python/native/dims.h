// Sizes that are no numbers yet, as Python sees them: the class Dim, which weir/dims.py completes.
// All functions under the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_DIMS_H_
#define WEIR_CLIENT_PYTHON_NATIVE_DIMS_H_

#include <pybind11/pybind11.h>

#include "common/tensor/dim.h"

namespace weir::python {

// A Python integer or a Dim. Raises: pybind11::cast_error for anything else.
Dim ToDim(const pybind11::handle& value);
// Returns: a Python integer for a number, else a Dim.
pybind11::object FromDim(const Dim& dim);

// Adds Dim to the module.
void BindDim(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_DIMS_H_
