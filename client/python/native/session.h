// Sessions and the programs that run on them. Thread-safe; blocking calls let other Python threads
// run.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_SESSION_H_
#define WEIR_CLIENT_PYTHON_NATIVE_SESSION_H_

#include <pybind11/pybind11.h>

namespace weir::python {

// Adds the classes Session and Program, and the functions that open sessions, to the module.
void BindSession(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_SESSION_H_
