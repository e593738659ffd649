#include "client/python/native/flow_builder.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "client/python/native/record_batches.h"
#include "common/base/status.h"
#include "common/flow/check_functions.h"
#include "common/flow/check_vertex.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/clone.h"

namespace py = pybind11;

namespace weir::python {
namespace {

// REQUIRES: there is such a kind.
Attrs ToAttrs(const FlowVertex& vertex, const py::dict& values) {
  Attrs attrs;
  for (const auto& [key, value] : values) {
    const auto name = key.cast<std::string>();
    for (const FlowAttr& attr : FindVertexKind(vertex.kind)->attrs) {
      if (attr.name != name) continue;
      absl::StatusOr<Attr> converted = ToAttr(attr.kind, value);
      if (!converted.ok()) {
        Raise(InvalidArgument(vertex.location.ToString(), ": '", vertex.name, "' (", vertex.kind,
                              "): ", name, " ", converted.status().message()));
      }
      attrs.insert_or_assign(name, *std::move(converted));
    }
  }
  return attrs;
}

RecordType ToRecordType(const std::vector<std::string>& texts) {
  RecordType type;
  for (const std::string& text : texts) type.push_back(ValueOrRaise(TensorType::Parse(text)));
  return type;
}

// Appends the functions of a graph to those of another one.
void Append(const Graph& more, Graph* graph) {
  for (const Function& function : more.functions()) {
    const RegionId body = graph->AddFunction(function.name).body;
    graph->functions().back().result_names = function.result_names;
    ValueMap map;
    for (const ValueId arg : more.region(function.body).args) {
      map[arg] = graph->AddArg(body, more.type(arg), more.value(arg).name);
    }
    std::vector<ValueId> results = CloneRegionBody(more, function.body, graph, body, &map);
    graph->region(body).results = std::move(results);
  }
}

// Appends an input and what brings its records into the loop. Returns: where they come out there.
FlowPort AddStandIn(Flow* flow, ScopeId loop, const RecordType& type) {
  const auto add = [&](std::string_view kind, Attrs attrs, std::vector<FlowPort> inputs) {
    FlowVertex vertex;
    vertex.name = StrCat("stand-in ", flow->vertices.size());
    vertex.kind = kind;
    vertex.inputs = std::move(inputs);
    vertex.attrs = std::move(attrs);
    flow->vertices.push_back(std::move(vertex));
    return FlowPort{VertexId(static_cast<int64_t>(flow->vertices.size()) - 1)};
  };
  std::vector<std::string> types;
  for (const TensorType& column : type) types.push_back(column.ToString());
  FlowPort port = add("input", {{"types", types}}, {});
  std::vector<std::string> around;  // innermost first
  for (ScopeId scope = loop; scope != LogicalGraph::kRoot;
       scope = flow->loops[scope.value() - 1].parent) {
    around.push_back(flow->loops[scope.value() - 1].name);
  }
  for (auto name = around.rbegin(); name != around.rend(); ++name) {
    port = add("enter", {{"loop", *name}}, {port});
  }
  return port;
}

}  // namespace

int64_t FlowBuilder::AddLoop(const std::string& name, int64_t parent) {
  const FlowLoop loop = {name, ScopeId(parent + 1)};
  const auto number = static_cast<int64_t>(flow_.loops.size());
  const bool is_good = parent >= -1 && parent < number &&
                       std::none_of(flow_.loops.begin(), flow_.loops.end(),
                                    [&](const FlowLoop& other) { return other.name == name; });
  flow_.loops.push_back(loop);
  if (is_good) {
    checked_.loops.push_back(loop);
    return number;
  }
  const absl::Status status = CheckAll(functions_);
  if (!status.ok()) {
    flow_.loops.pop_back();
    Raise(InvalidArgument(location_.ToString(), ": ", status.message()));
  }
  return number;
}

int64_t FlowBuilder::AddVertex(const std::vector<std::string>& names, const std::string& kind,
                               const std::vector<PortNumbers>& inputs, const py::dict& attrs,
                               const std::vector<const ProgramBuilder*>& functions) {
  FlowVertex vertex;
  vertex.name = names.at(0);
  vertex.other_outputs.assign(names.begin() + 1, names.end());
  vertex.kind = kind;
  for (const auto& [from, output] : inputs) vertex.inputs.push_back({VertexId(from), output});
  vertex.location = location_;
  vertex.attrs = ToAttrs(vertex, attrs);
  std::shared_ptr<const Graph> called = functions_;
  if (!functions.empty()) {
    const auto alone = std::make_shared<Graph>();
    for (const ProgramBuilder* each : functions) Append(each->graph(), alone.get());
    called = alone;
  }
  return Add(std::move(vertex), std::move(called), functions, CheckLastVertex);
}

int64_t FlowBuilder::Add(FlowVertex vertex, std::shared_ptr<const Graph> functions,
                         const std::vector<const ProgramBuilder*>& more,
                         absl::FunctionRef<absl::Status(Flow*)> check) {
  const std::string name = vertex.name;
  flow_.vertices.push_back(vertex);
  checked_.vertices.push_back(std::move(vertex));
  ++checks_;
  checked_.functions = std::move(functions);
  const bool is_good = !names_.contains(name) &&
                       (more.empty() || CheckFunctions(*checked_.functions).ok()) &&
                       check(&checked_).ok();
  if (is_good) {
    for (const ProgramBuilder* each : more) Append(each->graph(), functions_.get());
  } else {
    const auto all = std::make_shared<Graph>(*functions_);
    for (const ProgramBuilder* each : more) Append(each->graph(), all.get());
    checked_.vertices.pop_back();
    const absl::Status status = CheckAll(all);
    if (!status.ok()) {
      flow_.vertices.pop_back();
      Raise(status);
    }
  }
  names_.insert(name);
  return static_cast<int64_t>(flow_.vertices.size()) - 1;
}

int64_t FlowBuilder::AddOpen(const std::string& name, const std::string& kind, int64_t loop,
                             const std::vector<std::string>& types, const py::dict& attrs) {
  const auto number = static_cast<int64_t>(flow_.vertices.size());
  FlowVertex vertex;
  vertex.name = name;
  vertex.kind = kind;
  vertex.location = location_;
  vertex.attrs = ToAttrs(vertex, attrs);
  const Open& open = open_[number] = {loop, ToRecordType(types)};
  try {
    return Add(std::move(vertex), functions_, {},
               [&](Flow* flow) { return CheckOpenVertex(flow, ScopeId(loop + 1), open.type); });
  } catch (...) {
    open_.erase(number);
    throw;
  }
}

void FlowBuilder::Close(int64_t number, PortNumbers input, const py::dict& attrs) {
  const FlowVertex before = flow_.vertices.at(number);
  CheckInLoop(number, input.first);
  const Open opened = open_.at(number);
  FlowVertex& vertex = flow_.vertices[number];
  vertex.attrs.merge(ToAttrs(vertex, attrs));
  vertex.inputs = {{VertexId(input.first), input.second}};
  open_.erase(number);
  FlowVertex& checked = checked_.vertices[number];
  const FlowVertex checked_before = checked;
  checked.attrs = vertex.attrs;
  checked.inputs = vertex.inputs;
  ++checks_;
  if (IsEntered(number) && CheckVertexAgain(&checked_, VertexId(number)).ok()) return;
  checked = checked_before;
  const absl::Status status = CheckAll(functions_);
  if (status.ok()) return;
  vertex = before;
  open_[number] = opened;
  Raise(status);
}

bool FlowBuilder::IsEntered(int64_t number) {
  absl::flat_hash_set<int64_t> seen = {number};
  std::vector<int64_t> waiting = {number};
  while (!waiting.empty()) {
    const int64_t at = waiting.back();
    waiting.pop_back();
    ++checks_;
    const FlowVertex& vertex = checked_.vertices[at];
    if (vertex.inputs.empty() || open_.contains(at)) return true;
    if (vertex.def->scope == VertexKind::Scope::kEnter) return true;
    for (const FlowPort& input : vertex.inputs) {
      if (seen.insert(input.vertex.value()).second) waiting.push_back(input.vertex.value());
    }
  }
  return false;
}

void FlowBuilder::CheckInLoop(int64_t number, int64_t input) const {
  const ScopeId wanted(open_.at(number).loop + 1);
  const ScopeId found = checked_.vertices.at(input).output_scope;
  if (found == wanted) return;
  const auto named = [&](ScopeId scope) {
    if (scope == LogicalGraph::kRoot) return std::string("outside of loops");
    return StrCat("in loop '", flow_.loops[scope.value() - 1].name, "'");
  };
  const FlowVertex& vertex = flow_.vertices[number];
  Raise(InvalidArgument(location_.ToString(), ": '", vertex.name, "' (", vertex.kind, "): it is ",
                        named(wanted), " and '", flow_.vertices[input].name, "' is ", named(found),
                        "; use enter or leave"));
}

absl::Status FlowBuilder::CheckAll(const std::shared_ptr<Graph>& functions) {
  Flow flow = flow_;
  checks_ += static_cast<int64_t>(flow.vertices.size());
  flow.functions = functions;
  for (const auto& [vertex, open] : open_) {
    flow.vertices[vertex].inputs = {AddStandIn(&flow, ScopeId(open.loop + 1), open.type)};
  }
  WEIR_RETURN_IF_ERROR(CheckFlow(&flow));
  flow.vertices.resize(flow_.vertices.size());
  checked_ = std::move(flow);
  functions_ = functions;
  return absl::OkStatus();
}

py::list FlowBuilder::Types(int64_t vertex, int output) const {
  return FromRecordType(checked_.vertices.at(vertex).output_types.at(output));
}

Flow FlowBuilder::Finished() const {
  for (const auto& [number, open] : open_) {
    const FlowVertex& vertex = flow_.vertices[number];
    Raise(
        absl::FailedPreconditionError(StrCat(vertex.location.ToString(), ": '", vertex.name, "' (",
                                             vertex.kind, "): nothing comes to it yet; use set")));
  }
  Flow flow = flow_;
  flow.vertices = checked_.vertices;
  flow.functions = functions_;
  return flow;
}

std::string FlowBuilder::Text() const { return PrintFlow(Finished()); }

py::dict FlowBuilder::RunSequentially(const py::list& inputs, int64_t max_steps) const {
  // As it is deployed: from its text.
  const Flow flow = ValueOrRaise(ParseFlow(Text()));
  FlowInputs records;
  std::map<std::pair<std::string, int64_t>, int64_t> origins;  // that come next, by input and epoch
  for (const py::handle& each : inputs) {
    const auto [name, epoch, columns, weights] =
        each.cast<std::tuple<std::string, int64_t, py::sequence, py::object>>();
    int64_t& next = origins[{name, epoch}];
    RecordBatch batch = ToBatch(columns, weights, next);
    next += batch.size();
    records[name].push_back({epoch, std::move(batch)});
  }
  absl::StatusOr<ReferenceFlowResult> result;
  {
    py::gil_scoped_release unlocked;
    result = RunReferenceFlow(flow, records, {.max_steps = max_steps});
  }
  py::dict outputs;
  for (const auto& [name, epochs] : ValueOrRaise(std::move(result)).outputs) {
    py::dict by_epoch;
    for (const auto& [epoch, batch] : epochs) by_epoch[py::int_(epoch)] = FromBatch(batch);
    outputs[py::str(name)] = by_epoch;
  }
  return outputs;
}

namespace {

// {kind: [names of attributes]}.
py::dict KindTable() {
  py::dict kinds;
  for (const VertexKind& kind : AllVertexKinds()) {
    py::list attrs;
    for (const FlowAttr& attr : kind.attrs) attrs.append(std::string(attr.name));
    kinds[py::str(std::string(kind.name))] = attrs;
  }
  return kinds;
}

}  // namespace

void BindFlowBuilder(py::module_& module) {
  module.def("vertex_kinds", &KindTable);
  py::class_<FlowBuilder>(module, "FlowBuilder")
      .def(py::init<const std::string&>())
      .def("add_loop", &FlowBuilder::AddLoop)
      .def("set_location", &FlowBuilder::SetLocation)
      .def("add_vertex", &FlowBuilder::AddVertex, py::arg("names"), py::arg("kind"),
           py::arg("inputs"), py::arg("attrs"), py::arg("functions"))
      .def("add_open", &FlowBuilder::AddOpen)
      .def("close", &FlowBuilder::Close)
      .def("types", &FlowBuilder::Types)
      .def_property_readonly("checks", &FlowBuilder::checks)
      .def("text", &FlowBuilder::Text)
      .def("run_sequentially", &FlowBuilder::RunSequentially);
}

}  // namespace weir::python
