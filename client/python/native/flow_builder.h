// A flow under construction, as the Python package makes one: each vertex is checked when it is
// added, so that what is wrong is said while the user's line that is at fault runs. A vertex costs
// what it has, not what the flow has; only to say what is wrong the whole flow is looked at. One
// owner, under the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_
#define WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
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
  // How many vertices were looked at to check others, in all.
  int64_t checks() const { return checks_; }
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

  // Appends a vertex that `check` takes, where `functions` are all that it may call and `more`
  // those of them that the flow does not have yet; or raises.
  int64_t Add(FlowVertex vertex, std::shared_ptr<const Graph> functions,
              const std::vector<const ProgramBuilder*>& more,
              absl::FunctionRef<absl::Status(Flow*)> check);
  // Raises if what is to come to an open vertex is not in its loop.
  void CheckInLoop(int64_t vertex, int64_t input) const;
  // Whether records can come to a vertex from outside of cycles, as far as these are closed.
  bool IsEntered(int64_t vertex);
  // Checks the whole flow, with something in place of what is to come to open vertices, and notes
  // the types that follow.
  absl::Status CheckAll(const std::shared_ptr<Graph>& functions);
  Flow Finished() const;

  Flow flow_;  // as it was put together, not checked; without functions
  std::shared_ptr<Graph> functions_ = std::make_shared<Graph>();
  std::map<int64_t, Open> open_;
  Flow checked_;                            // the same with what follows for each vertex
  absl::flat_hash_set<std::string> names_;  // of vertices
  int64_t checks_ = 0;
  Location location_;
};

// Adds FlowBuilder to the module.
void BindFlowBuilder(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_FLOW_BUILDER_H_
