// Programs that come from files. Under the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_MODEL_H_
#define WEIR_CLIENT_PYTHON_NATIVE_MODEL_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds the class Model, an imported program, and import_onnx to the module.
void BindModel(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_MODEL_H_
