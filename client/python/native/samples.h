// The samples of the ops, which the package's tests run. All functions under the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_SAMPLES_H_
#define WEIR_CLIENT_PYTHON_NATIVE_SAMPLES_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds op_samples to the module.
void BindSamples(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_SAMPLES_H_
