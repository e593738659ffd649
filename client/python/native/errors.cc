#include "client/python/native/errors.h"

#include <pybind11/pybind11.h>

#include <string>

namespace py = pybind11;

namespace weir::python {

void Raise(const absl::Status& status) {
  const py::object error = py::module_::import("weir.errors")
                               .attr("from_status")(absl::StatusCodeToString(status.code()),
                                                    std::string(status.message()));
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace weir::python
