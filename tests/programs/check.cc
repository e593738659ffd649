#include "tests/programs/check.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/base/printed_lines.h"
#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "common/tensor/compare.h"
#include "server/compiler/pipeline.h"
#include "tests/programs/plan_world.h"
#include "worker/executor/executable.h"

namespace weir {
namespace {

// What a run gives and prints.
struct Outcome {
  absl::StatusOr<std::vector<Tensor>> results;
  PrintedLines lines;
};

// A compiled program, in both forms in which it runs.
struct Form {
  Graph graph;
  bool contracts = false;  // sums are made in another order than the program's
  std::unique_ptr<Executable> executable;
  std::shared_ptr<Program> plan;  // as workers hold it

  static absl::StatusOr<Form> Of(const Graph& program, const CompileOptions& options) {
    absl::Status valid;
    const auto verify = [&](const Pass& pass, const Graph& graph) {
      if (valid.ok()) valid = Annotate(Verify(graph, Ops()), StrCat("after pass ", pass.name));
    };
    absl::StatusOr<Compiled> made = Compile(program, options, verify);
    WEIR_RETURN_IF_ERROR(valid);
    WEIR_RETURN_IF_ERROR(made.status());
    Compiled& compiled = *made;
    auto graph = std::make_shared<const Graph>(compiled.graph);
    const bool contracts = compiled.report.notes.size() > compiled.plan.notes.size();
    Form form{.graph = std::move(compiled.graph), .contracts = contracts};
    WEIR_ASSIGN_OR_RETURN(form.executable, Executable::Create(graph, graph->entry().name));
    WEIR_ASSIGN_OR_RETURN(form.plan, Prepared(compiled.plan));
    return form;
  }

  Outcome Execute(const std::vector<Tensor>& inputs, int64_t n) const {
    std::vector<Tensor> outputs(graph.region(graph.entry().body).results.size());
    Workspace workspace;
    RunStats stats;
    Outcome outcome;
    const absl::Status status = executable->Run({{"n", n}}, inputs, absl::MakeSpan(outputs),
                                                &workspace, &stats, {.lines = &outcome.lines});
    if (status.ok()) {
      outcome.results = std::move(outputs);
    } else {
      outcome.results = status;
    }
    return outcome;
  }
};

Outcome Interpreted(const Graph& graph, const std::vector<Tensor>& inputs,
                    InterpretOptions options) {
  Outcome outcome;
  options.lines = &outcome.lines;
  outcome.results = Interpret(graph, inputs, options);
  return outcome;
}

std::vector<std::string> TextsOf(const PrintedLines& lines) {
  std::vector<std::string> texts;
  for (const auto& [place, text] : lines.lines()) {
    texts.push_back(StrCat(absl::StrJoin(place, "."), ": ", text));
  }
  return texts;
}

std::string CompareLines(const PrintedLines& got, const PrintedLines& want) {
  const std::vector<std::string> mine = TextsOf(got), others = TextsOf(want);
  for (size_t i = 0; i < std::max(mine.size(), others.size()); ++i) {
    const std::string& a = i < mine.size() ? mine[i] : "nothing";
    const std::string& b = i < others.size() ? others[i] : "nothing";
    if (a != b) return StrCat("line ", i, " is ", a, " instead of ", b);
  }
  return "";
}

std::string Compare(std::string_view what, const Outcome& got, const Outcome& want) {
  if (!got.results.ok() || !want.results.ok()) {
    if (got.results.status().code() == want.results.status().code()) return "";
    return StrCat(what, ": ", got.results.status().ToString(), " instead of ",
                  want.results.status().ToString());
  }
  for (size_t r = 0; r < want.results->size(); ++r) {
    const std::string difference = Difference((*got.results)[r], (*want.results)[r]);
    if (!difference.empty()) return StrCat(what, ", result ", r, ": ", difference);
  }
  const std::string lines = CompareLines(got.lines, want.lines);
  return lines.empty() ? "" : StrCat(what, ", ", lines);
}

std::string RangesDisagreement(std::string_view what, const Graph& graph,
                               const std::vector<Tensor>& inputs, InterpretOptions options,
                               const Outcome& want) {
  for (int64_t ranges : {1, 2, 3}) {
    options.shard_ranges = ranges;
    const std::string found =
        Compare(StrCat(what, "interpreted in ", ranges, " ranges, n = ", options.symbols.at("n")),
                Interpreted(graph, inputs, options), want);
    if (!found.empty()) return found;
  }
  return "";
}

// Workers do what the whole of the program does in one executor, bit by bit.
std::string WorkersDisagreement(const Form& form, const std::vector<Tensor>& inputs, int64_t n,
                                const Outcome& want) {
  for (int workers : {1, 2, 3}) {
    PlanOutcome got =
        RunPlan(form.plan, inputs, {{"n", n}}, workers, static_cast<uint64_t>(17 * n + workers));
    const std::string found = Compare(StrCat("on ", workers, " workers, n = ", n),
                                      {std::move(got.results), std::move(got.lines)}, want);
    if (!found.empty()) return found;
  }
  return "";
}

// What the compiler makes of one program.
struct Forms {
  Form as_written;  // with the bits of the program
  Form vectorized;
  Form loop;

  static absl::StatusOr<Forms> Of(const Graph& program) {
    absl::StatusOr<Form> vectorized = Form::Of(program, {.trips = CompileOptions::Trips::kSplit});
    WEIR_RETURN_IF_ERROR(vectorized.status());
    absl::StatusOr<Form> loop = Form::Of(program, {.loops = CompileOptions::Loops::kSequential});
    WEIR_RETURN_IF_ERROR(Annotate(loop.status(), "as a loop"));
    absl::StatusOr<Form> as_written = Form{.graph = vectorized->graph};
    if (vectorized->contracts) {
      as_written = Form::Of(program, {.sums = CompileOptions::Sums::kAsWritten});
      WEIR_RETURN_IF_ERROR(Annotate(as_written.status(), "with sums as written"));
    }
    return Forms{*std::move(as_written), *std::move(vectorized), *std::move(loop)};
  }
};

std::string DisagreementFor(const RandomProgram& program, const Forms& forms, int64_t n) {
  const std::vector<Tensor> inputs = program.Inputs(n);
  InterpretOptions options;
  options.symbols = {{"n", n}};
  std::string found = RangesDisagreement("", forms.as_written.graph, inputs, options,
                                         Interpreted(program.graph, inputs, options));
  if (found.empty() && forms.vectorized.contracts) {
    const Graph& contracted = forms.vectorized.graph;
    found = RangesDisagreement("contracted, ", contracted, inputs, options,
                               Interpreted(contracted, inputs, options));
  }
  if (!found.empty()) return found;
  const Outcome executed = forms.vectorized.Execute(inputs, n);
  found = Compare(StrCat("executed, n = ", n), executed, forms.loop.Execute(inputs, n));
  return found.empty() ? WorkersDisagreement(forms.vectorized, inputs, n, executed) : found;
}

}  // namespace

std::string Disagreement(const RandomProgram& program) {
  if (absl::Status status = Verify(program.graph, Ops()); !status.ok()) {
    return StrCat("the program is not valid: ", status.ToString());
  }
  const absl::StatusOr<Forms> forms = Forms::Of(program.graph);
  if (!forms.ok()) return StrCat("compiler: ", forms.status().ToString());
  for (int64_t n : {0, 1, 2, 5}) {
    std::string found = DisagreementFor(program, *forms, n);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace weir
