#include "client/python/native/dims.h"

#include <pybind11/stl.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "client/python/native/errors.h"
#include "common/tensor/dim_bounds.h"

namespace py = pybind11;

namespace weir::python {
namespace {

using BinaryOp = Dim (*)(const Dim&, const Dim&);

// A static function of the class that takes integers and Dims.
template <class Class>
void Define(Class& dim, const char* name, BinaryOp op) {
  dim.def_static(name, [op](const py::object& a, const py::object& b) {
    return FromDim(op(ToDim(a), ToDim(b)));
  });
}

std::set<std::string, std::less<>> Symbols(const Dim& dim) {
  std::set<std::string, std::less<>> symbols;
  dim.CollectSymbols(&symbols);
  return symbols;
}

// Returns: (least, greatest) as far as they are known.
std::pair<std::optional<int64_t>, std::optional<int64_t>> Bounds(const Dim& dim) {
  return {LowerBound(dim), UpperBound(dim)};
}

py::object Substituted(const Dim& dim, const std::map<std::string, int64_t>& values) {
  std::map<std::string, Dim, std::less<>> symbols;
  for (const auto& [name, value] : values) symbols.emplace(name, Dim(value));
  return FromDim(dim.Substitute(symbols));
}

}  // namespace

Dim ToDim(const py::handle& value) {
  if (py::isinstance<Dim>(value)) return value.cast<Dim>();
  return Dim(value.cast<int64_t>());
}

py::object FromDim(const Dim& dim) {
  if (dim.is_number()) return py::int_(dim.number());
  return py::cast(dim);
}

void BindDim(py::module_& module) {
  py::class_<Dim> dim(module, "Dim");
  Define(dim, "_add", [](const Dim& a, const Dim& b) { return a + b; });
  Define(dim, "_subtract", [](const Dim& a, const Dim& b) { return a - b; });
  Define(dim, "_multiply", [](const Dim& a, const Dim& b) { return a * b; });
  Define(dim, "_floor_divide", [](const Dim& a, const Dim& b) { return FloorDiv(a, b); });
  Define(dim, "_mod", [](const Dim& a, const Dim& b) { return Mod(a, b); });
  Define(dim, "_minimum", [](const Dim& a, const Dim& b) { return SmallerOf(a, b); });
  Define(dim, "_maximum", [](const Dim& a, const Dim& b) { return LargerOf(a, b); });
  dim.def_static("_parse",
                 [](const std::string& text) { return FromDim(ValueOrRaise(Dim::Parse(text))); });
  dim.def_property_readonly("_is_unknown", &Dim::is_unknown);
  dim.def_property_readonly("_is_symbol", &Dim::is_symbol);
  dim.def_property_readonly("_symbols", &Symbols);
  dim.def("_same", [](const Dim& a, const Dim& b) { return !a.is_unknown() && a == b; });
  dim.def("_bounds", &Bounds);
  dim.def("_gathered", [](const Dim& a) { return FromDim(Gathered(a)); });
  dim.def("_substituted", &Substituted);
  dim.def("__str__", &Dim::ToString);
}

}  // namespace weir::python
