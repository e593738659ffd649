// The Python module weir._native: the C++ library as the Python package sees it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>

#include "client/python/native/arrays.h"
#include "client/python/native/dims.h"
#include "client/python/native/flow_builder.h"
#include "client/python/native/flow_job.h"
#include "client/python/native/model.h"
#include "client/python/native/program_builder.h"
#include "client/python/native/samples.h"
#include "client/python/native/session.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "common/ops/promote.h"
#include "common/ops/registry.h"

namespace py = pybind11;

namespace weir::python {
namespace {

py::object CountOrNone(int count) {
  return count >= kAny ? py::object(py::none()) : py::object(py::int_(count));
}

// One dictionary for each op of the registry.
py::list OpTable() {
  py::list table;
  for (const OpDef& op : AllOps()) {
    py::list attrs;
    for (const AttrDef& attr : op.attrs) {
      attrs.append(py::make_tuple(std::string(attr.name), std::string(AttrKindName(attr.kind)),
                                  attr.required));
    }
    py::dict row;
    row["name"] = std::string(op.name);
    row["summary"] = std::string(op.summary);
    row["min_inputs"] = op.inputs.min;
    row["max_inputs"] = CountOrNone(op.inputs.max);
    row["max_outputs"] = CountOrNone(op.outputs.max);
    row["max_regions"] = CountOrNone(op.regions.max);
    row["attrs"] = attrs;
    row["elementwise"] = op.elementwise.has_value();
    row["pfor"] = op.pfor != nullptr;
    row["no_pfor"] = std::string(op.no_pfor);
    table.append(row);
  }
  return table;
}

// Warnings only, unless the environment variable WEIR_LOG asks for more.
void SetUpLogging() {
  absl::StatusOr<LogLevel> level = LogLevel::kWarning;
  if (std::getenv("WEIR_LOG") != nullptr) level = LogLevelFrom("");
  InitLogging({.program = "python", .level = level.value_or(LogLevel::kWarning)});
}

std::string PromoteNames(const std::string& a, const std::string& b) {
  return std::string(DTypeName(Promote(DTypeFromName(a), DTypeFromName(b))));
}

}  // namespace
}  // namespace weir::python

PYBIND11_MODULE(_native, module) {
  weir::python::SetUpLogging();
  module.attr("__version__") = std::string(weir::kVersion);
  module.def("ops", &weir::python::OpTable);
  module.def("promote", &weir::python::PromoteNames);
  weir::python::BindDim(module);
  weir::python::LoadNumpyTypes();
  weir::python::BindModel(module);
  weir::python::BindProgramBuilder(module);
  weir::python::BindFlowBuilder(module);
  weir::python::BindSamples(module);
  weir::python::BindFlowJob(module);
  weir::python::BindSession(module);
}
