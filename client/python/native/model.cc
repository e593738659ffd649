#include "client/python/native/model.h"

#include <memory>
#include <string>

#include "client/python/native/dims.h"
#include "client/python/native/errors.h"
#include "common/ir/graph.h"
#include "common/ir/text.h"
#include "server/compiler/import/import.h"

namespace py = pybind11;

namespace weir::python {
namespace {

py::tuple NamedType(std::string name, const TensorType& type) {
  py::tuple shape(type.rank());
  for (int i = 0; i < type.rank(); ++i) {
    const Dim& dim = type.shape[i];
    // Symbols of a model are its own, so they are texts here.
    shape[i] = dim.is_number() ? FromDim(dim) : py::object(py::str(dim.ToString()));
  }
  return py::make_tuple(std::move(name), std::string(DTypeName(type.dtype)), shape);
}

// The parameters of the entry function: (name, element type, shape).
py::list Inputs(const Graph& graph) {
  py::list out;
  for (ValueId arg : graph.region(graph.entry().body).args) {
    out.append(NamedType(graph.value(arg).name, graph.type(arg)));
  }
  return out;
}

// The results, likewise.
py::list Outputs(const Graph& graph) {
  py::list out;
  const Region& body = graph.region(graph.entry().body);
  for (size_t i = 0; i < body.results.size(); ++i) {
    out.append(NamedType(graph.entry().result_names[i], graph.type(body.results[i])));
  }
  return out;
}

}  // namespace

void BindModel(py::module_& module) {
  py::class_<Graph, std::shared_ptr<Graph>>(module, "Model")
      .def("inputs", &Inputs)
      .def("outputs", &Outputs)
      .def("text", [](const Graph& graph) { return Print(graph); });
  module.def("import_onnx", [](const py::bytes& bytes, const std::string& name) {
    const auto source = bytes.cast<std::string>();
    return std::make_shared<Graph>(ValueOrRaise(ImportOnnx(source, name)));
  });
}

}  // namespace weir::python
