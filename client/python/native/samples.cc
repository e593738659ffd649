#include "client/python/native/samples.h"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/control/state.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"

namespace py = pybind11;

namespace weir::python {
namespace {

py::list ToList(const std::vector<Tensor>& tensors) {
  py::list arrays;
  for (const Tensor& tensor : tensors) arrays.append(ToArray(tensor, Memory::kShared));
  return arrays;
}

// Of the entry function, and of the variables behind it.
std::vector<std::string> InputNames(const Graph& program) {
  std::vector<std::string> names;
  for (ValueId arg : program.region(program.entry().body).args) {
    names.push_back(program.value(arg).name);
  }
  for (const auto& [name, use] : ValueOrRaise(VariablesOf(program))) names.push_back(name);
  return names;
}

// A sample of one op, with `lanes` rows of the operands that may vary.
py::dict FromSample(const OpDef& op, const Sample& sample, int64_t lanes) {
  py::list dtypes;
  py::list may_vary;
  uint32_t varying = 0;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    dtypes.append(std::string(DTypeName(sample.operands[i].dtype)));
    may_vary.append(sample.operands[i].may_vary);
    if (sample.operands[i].may_vary) varying |= uint32_t{1} << i;
  }
  const std::vector<Tensor> operands = OperandsOf(sample);
  const Graph program = ValueOrRaise(ProgramOf(op, sample));
  py::dict attrs;
  for (const auto& [name, value] : sample.attrs) attrs[py::str(name)] = FromAttr(value);
  py::dict row;
  row["label"] = sample.label;
  row["text"] = Print(program);
  row["inputs"] = InputNames(program);
  row["is_call"] = sample.program.empty();
  row["dtypes"] = dtypes;
  row["may_vary"] = may_vary;
  row["operands"] = ToList(operands);
  row["rows"] = ToList(RowsOf(sample, varying, lanes));
  row["attrs"] = attrs;
  row["want"] = ToList(ValueOrRaise(Interpret(program, operands)));
  row["ulp"] = sample.ulp;
  row["absolute"] = sample.absolute;
  return row;
}

// The samples of an op, as calls of it where they are one node, and as programs; with what the
// reference interpreter makes of them.
py::list OpSamples(const std::string& name, int64_t lanes) {
  const OpDef* op = FindOp(name);
  if (op == nullptr) Raise(InvalidArgument("there is no op '", name, "'"));
  py::list rows;
  for (const Sample& sample : op->samples()) {
    rows.append(FromSample(*op, sample, lanes));
  }
  return rows;
}

}  // namespace

void BindSamples(py::module_& module) {
  module.def("op_samples", &OpSamples, py::arg("op"), py::arg("lanes"));
}

}  // namespace weir::python
