// A flow under construction, as the Python package makes one: checked after each vertex, so that
// what is wrong is said while the user's line that is at fault runs. One owner, under the
// interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_
#define WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/python/native/program_builder.h"
#include "common/flow/flow.h"

namespace weir::python {

// A fault raises and leaves the flow as it was.
class FlowBuilder {
 public:
  using PortNumbers = std::pair<int64_t, int>;  // vertex, output

  explicit FlowBuilder(const std::string& name) { flow_.name = name; }

  // `parent` is a loop around it, or -1. Returns: its number.
  int64_t AddLoop(const std::string& name, int64_t parent);

  // Put on the vertices that are made from now on.
  void SetLocation(std::string file, int line) { location_ = {std::move(file), line, 0}; }
  // `names` are those of the outputs; the first is its own. `functions` are what its attributes
  // name. REQUIRES: no function of the flow has their names. Returns: its number.
  int64_t AddVertex(const std::vector<std::string>& names, const std::string& kind,
                    const std::vector<PortNumbers>& inputs, const pybind11::dict& attrs,
                    const std::vector<const ProgramBuilder*>& functions);
  // A vertex through which a cycle goes: a feedback in this loop, or a delay in this one or (-1) in
  // none. Its input is to come, of records with these columns ("f32[3]").
  int64_t AddOpen(const std::string& name, const std::string& kind, int64_t loop,
                  const std::vector<std::string>& types, const pybind11::dict& attrs);
  // Its input and further attributes.
  void Close(int64_t vertex, PortNumbers input, const pybind11::dict& attrs);

  // The columns of an output's records: [(element type, shape)].
  pybind11::list Types(int64_t vertex, int output) const;
  // REQUIRES of both: nothing is open.
  std::string Text() const;
  // `inputs`: [(name, epoch, columns, weights or None)]. Returns: {output: {epoch: (columns,
  // weights)}}, by the oracle, in one thread.
  pybind11::dict RunSequentially(const pybind11::list& inputs, int64_t max_steps) const;

 private:
  struct Open {
    int64_t loop = 0;
    RecordType type;
  };

  // Appends the vertex, or raises.
  int64_t Add(FlowVertex vertex);
  // Raises if what is to come to an open vertex is not in its loop.
  void CheckInLoop(int64_t vertex, int64_t input) const;
  // Checks the flow, with something in place of what is to come to open vertices, and notes the
  // types that follow.
  absl::Status Check();
  Flow Finished() const;

  Flow flow_;  // as it was put together, not checked
  std::shared_ptr<const Graph> functions_ = std::make_shared<const Graph>();
  std::map<int64_t, Open> open_;
  std::vector<FlowVertex> checked_;  // the vertices with what Check found out
  Location location_;
};

// Adds FlowBuilder to the module.
void BindFlowBuilder(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_
