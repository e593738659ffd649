#include "tests/programs/check.h"

#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "common/tensor/compare.h"
#include "server/compiler/pipeline.h"
#include "worker/executor/executable.h"

namespace weir {
namespace {

using Results = absl::StatusOr<std::vector<Tensor>>;

// A compiled program, in both forms in which it runs.
struct Form {
  Graph graph;
  std::unique_ptr<Executable> executable;

  static absl::StatusOr<Form> Of(const Graph& program, const CompileOptions& options) {
    WEIR_ASSIGN_OR_RETURN(Compiled compiled, Compile(program, options));
    WEIR_RETURN_IF_ERROR(Annotate(Verify(compiled.graph, Ops()), "compiled"));
    auto graph = std::make_shared<const Graph>(compiled.graph);
    Form form{std::move(compiled.graph), nullptr};
    WEIR_ASSIGN_OR_RETURN(form.executable, Executable::Create(graph, graph->entry().name));
    return form;
  }

  Results Execute(const std::vector<Tensor>& inputs, int64_t n) const {
    std::vector<Tensor> outputs(graph.region(graph.entry().body).results.size());
    Workspace workspace;
    RunStats stats;
    WEIR_RETURN_IF_ERROR(
        executable->Run({{"n", n}}, inputs, absl::MakeSpan(outputs), &workspace, &stats));
    return outputs;
  }
};

std::string Compare(std::string_view what, const Results& got, const Results& want) {
  if (!got.ok() || !want.ok()) {
    if (got.status().code() == want.status().code()) return "";
    return StrCat(what, ": ", got.status().ToString(), " instead of ", want.status().ToString());
  }
  for (size_t r = 0; r < want->size(); ++r) {
    const std::string difference = Difference((*got)[r], (*want)[r]);
    if (!difference.empty()) return StrCat(what, ", result ", r, ": ", difference);
  }
  return "";
}

std::string DisagreementFor(const Program& program, const Form& vectorized, const Form& loop,
                            int64_t n) {
  const std::vector<Tensor> inputs = program.Inputs(n);
  InterpretOptions options;
  options.symbols = {{"n", n}};
  const Results want = Interpret(program.graph, inputs, options);
  for (int64_t ranges : {1, 2, 3}) {
    options.shard_ranges = ranges;
    const std::string found = Compare(StrCat("interpreted in ", ranges, " ranges, n = ", n),
                                      Interpret(vectorized.graph, inputs, options), want);
    if (!found.empty()) return found;
  }
  return Compare(StrCat("executed, n = ", n), vectorized.Execute(inputs, n),
                 loop.Execute(inputs, n));
}

}  // namespace

std::string Disagreement(const Program& program) {
  if (absl::Status status = Verify(program.graph, Ops()); !status.ok()) {
    return StrCat("the program is not valid: ", status.ToString());
  }
  const absl::StatusOr<Form> vectorized = Form::Of(program.graph, {});
  if (!vectorized.ok()) return StrCat("compiler: ", vectorized.status().ToString());
  const absl::StatusOr<Form> loop =
      Form::Of(program.graph, {.loops = CompileOptions::Loops::kSequential});
  if (!loop.ok()) return StrCat("compiler, as a loop: ", loop.status().ToString());
  for (int64_t n : {0, 1, 2, 5}) {
    std::string found = DisagreementFor(program, *vectorized, *loop, n);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace weir
