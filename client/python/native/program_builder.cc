#include "client/python/native/program_builder.h"

#include <pybind11/stl.h>

#include <utility>

#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "common/base/status.h"
#include "common/ir/clone.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"

namespace py = pybind11;

namespace weir::python {
namespace {

std::vector<ValueId> ToValues(const std::vector<int64_t>& numbers) {
  std::vector<ValueId> values;
  for (int64_t number : numbers) values.push_back(ValueId(number));
  return values;
}

std::vector<int64_t> ToNumbers(const std::vector<ValueId>& values) {
  std::vector<int64_t> numbers;
  for (ValueId value : values) numbers.push_back(value.value());
  return numbers;
}

// See ProgramBuilder::Contents.
py::tuple ContentsOf(const Graph& graph, RegionId id) {
  const Region& region = graph.region(id);
  py::list nodes;
  for (NodeId node_id : region.nodes) {
    const Node& node = graph.node(node_id);
    py::dict attrs;
    for (const auto& [name, value] : node.attrs) attrs[py::str(name)] = FromAttr(value);
    py::list bodies;
    for (RegionId inner : node.regions) bodies.append(ContentsOf(graph, inner));
    nodes.append(py::make_tuple(node.op, ToNumbers(node.inputs), ToNumbers(node.outputs), attrs,
                                bodies, node.location.file, node.location.line));
  }
  return py::make_tuple(ToNumbers(region.args), nodes, ToNumbers(region.results));
}

}  // namespace

// A fresh builder each time: its faults stick.
Builder ProgramBuilder::At(int64_t region) {
  Builder builder(&graph_, RegionId(region), &Ops());
  builder.SetLocation(location_);
  return builder;
}

int64_t ProgramBuilder::NewFunction(const std::string& name) {
  return graph_.AddFunction(name).body.value();
}

int64_t ProgramBuilder::AddArg(int64_t region, const std::string& dtype, const py::handle& shape,
                               const std::string& name) {
  TensorType type{DTypeFromName(dtype), Shape(ToDims(shape))};
  return graph_.AddArg(RegionId(region), std::move(type), name).value();
}

std::vector<int64_t> ProgramBuilder::Apply(int64_t region, const std::string& op,
                                           const std::vector<int64_t>& inputs,
                                           const py::dict& attrs,
                                           const std::vector<int64_t>& regions) {
  Attrs converted;
  for (const auto& [name, value] : attrs) {
    const auto text = name.cast<std::string>();
    converted.insert_or_assign(text, ToAttr(op, text, value));
  }
  std::vector<RegionId> region_ids;
  for (int64_t number : regions) region_ids.push_back(RegionId(number));
  Builder builder = At(region);
  const std::vector<ValueId> outputs =
      builder.ApplyAll(op, ToValues(inputs), std::move(converted), std::move(region_ids));
  RaiseIfError(builder.status());
  return ToNumbers(outputs);
}

int64_t ProgramBuilder::Constant(int64_t region, const py::array& value) {
  Builder builder = At(region);
  const ValueId constant = builder.Constant(ToTensor(value).Clone());
  RaiseIfError(builder.status());
  return constant.value();
}

void ProgramBuilder::Yield(int64_t region, const std::vector<int64_t>& results) {
  Builder builder = At(region);
  builder.Yield(ToValues(results));
  RaiseIfError(builder.status());
}

void ProgramBuilder::RemoveFunction(int64_t region) {
  std::erase_if(graph_.functions(),
                [&](const Function& function) { return function.body == RegionId(region); });
}

void ProgramBuilder::DeclareResults(int64_t region, const py::list& results) {
  const RegionId scratch = graph_.AddRegion();
  std::vector<ValueId> values;
  for (const py::handle& result : results) {
    const auto [dtype, shape] = result.cast<std::pair<std::string, py::object>>();
    values.push_back(graph_.AddArg(scratch, {DTypeFromName(dtype), Shape(ToDims(shape))}));
  }
  graph_.region(RegionId(region)).results = std::move(values);
}

void ProgramBuilder::SetResultNames(int64_t region, const std::vector<std::string>& names) {
  for (Function& function : graph_.functions()) {
    if (function.body == RegionId(region)) function.result_names = names;
  }
}

std::vector<py::array> ProgramBuilder::AddCopyOf(const Graph& program, const std::string& name,
                                                 int64_t inline_elements) {
  const Function& entry = program.entry();
  const RegionId body = graph_.AddFunction(name).body;
  const Region& source = program.region(entry.body);
  ValueMap map;
  for (ValueId arg : source.args) {
    map[arg] = graph_.AddArg(body, program.type(arg), program.value(arg).name);
  }
  std::vector<py::array> hoisted;
  absl::flat_hash_map<NodeId, NodeId> nodes;
  for (NodeId id : source.nodes) {
    const Node& node = program.node(id);
    if (node.op == "constant" && node.attr("value").AsTensor().num_elements() > inline_elements) {
      const ValueId output = node.outputs[0];
      map[output] = graph_.AddArg(body, program.type(output), program.value(output).name);
      hoisted.push_back(ToArray(node.attr("value").AsTensor(), Memory::kShared));
    } else {
      CloneNode(program, id, &graph_, body, &map, &nodes);
    }
  }
  std::vector<ValueId> results;
  for (ValueId result : source.results) results.push_back(map.at(result));
  Builder builder = At(body.value());
  builder.Yield(std::move(results));
  RaiseIfError(builder.status());
  return hoisted;
}

py::tuple ProgramBuilder::Contents(const std::string& function) const {
  const Function* found = graph_.FindFunction(function);
  if (found == nullptr) Raise(InvalidArgument("there is no function '", function, "'"));
  return ContentsOf(graph_, found->body);
}

py::tuple ProgramBuilder::Type(int64_t value) const {
  const TensorType& type = graph_.type(ValueId(value));
  return py::make_tuple(std::string(DTypeName(type.dtype)), FromShape(type.shape));
}

std::string ProgramBuilder::Text() const { return Print(graph_); }

void ProgramBuilder::Check() const { RaiseIfError(Verify(graph_, Ops())); }

void BindProgramBuilder(py::module_& module) {
  py::class_<ProgramBuilder>(module, "ProgramBuilder")
      .def(py::init<>())
      .def("new_function", &ProgramBuilder::NewFunction)
      .def("new_region", &ProgramBuilder::NewRegion)
      .def("remove_function", &ProgramBuilder::RemoveFunction)
      .def("declare_results", &ProgramBuilder::DeclareResults)
      .def("add_arg", &ProgramBuilder::AddArg)
      .def("apply", &ProgramBuilder::Apply)
      .def("constant", &ProgramBuilder::Constant)
      .def("yield_", &ProgramBuilder::Yield)
      .def("set_result_names", &ProgramBuilder::SetResultNames)
      .def("add_copy_of", &ProgramBuilder::AddCopyOf)
      .def("contents", &ProgramBuilder::Contents)
      .def("set_location", &ProgramBuilder::SetLocation)
      .def("type", &ProgramBuilder::Type)
      .def("text", &ProgramBuilder::Text)
      .def("verify", &ProgramBuilder::Check);
}

}  // namespace weir::python
