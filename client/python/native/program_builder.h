// The graph that a trace fills, with plain integers for values and regions. One owner, under the
// interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_PROGRAM_BUILDER_H_
#define WEIR_CLIENT_PYTHON_NATIVE_PROGRAM_BUILDER_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "common/ir/builder.h"

namespace weir::python {

// A fault raises and leaves the graph as it was.
class ProgramBuilder {
 public:
  // Returns: the body of a new function.
  int64_t NewFunction(const std::string& name);
  // A region that Apply attaches to a node.
  int64_t NewRegion() { return graph_.AddRegion().value(); }
  int64_t AddArg(int64_t region, const std::string& dtype, const pybind11::handle& shape,
                 const std::string& name);
  // Appends a node to `region`. Returns: its outputs.
  std::vector<int64_t> Apply(int64_t region, const std::string& op,
                             const std::vector<int64_t>& inputs, const pybind11::dict& attrs,
                             const std::vector<int64_t>& regions);
  int64_t Constant(int64_t region, const pybind11::array& value);
  void Yield(int64_t region, const std::vector<int64_t>& results);
  // Forgets a function.
  void RemoveFunction(int64_t region);
  // Lets calls of a function be built before its results are: `results` are pairs (element type,
  // shape), until it yields others.
  void DeclareResults(int64_t region, const pybind11::list& results);
  // Of a function; the names must differ.
  void SetResultNames(int64_t region, const std::vector<std::string>& names);
  // Adds the entry function of `program` as function `name`. Constants of more than
  // `inline_elements` elements become parameters behind its own. Returns: their values.
  std::vector<pybind11::array> AddCopyOf(const Graph& program, const std::string& name,
                                         int64_t inline_elements);

  // What a function consists of: (values of its arguments, nodes, values of its results), a node
  // as (op, inputs, outputs, attributes, the same of each of its regions, file, line).
  pybind11::tuple Contents(const std::string& function) const;

  // Put on every node made from now on.
  void SetLocation(std::string file, int line) { location_ = {std::move(file), line, 0}; }
  // Returns: (element type, shape).
  pybind11::tuple Type(int64_t value) const;
  std::string Text() const;
  const Graph& graph() const { return graph_; }
  void Check() const;

 private:
  Builder At(int64_t region);

  Graph graph_;
  Location location_;
};

// Adds ProgramBuilder and Program to the module.
void BindProgramBuilder(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_PROGRAM_BUILDER_H_
