#include "worker/flow/program_function.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "worker/dataflow/direct_run.h"
#include "worker/flow/gather_rows.h"

namespace weir {
namespace {

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

std::string NameOf(const v1::Plan& plan, uint32_t value) { return plan.values(value).name(); }

// Whether `type` is `record` with one more axis in front.
bool IsColumn(const TensorType& type, const TensorType& record) {
  const std::vector<Dim>& dims = type.shape.dims();
  const std::vector<Dim>& each = record.shape.dims();
  return type.dtype == record.dtype && type.rank() == record.rank() + 1 &&
         std::equal(each.begin(), each.end(), dims.begin() + 1);
}

// What follows from the number of records.
class ProgramCalls {
 public:
  ProgramCalls(std::shared_ptr<Program> program, std::string records,
               std::shared_ptr<std::atomic<bool>> cancelled)
      : program_(std::move(program)),
        records_(std::move(records)),
        cancelled_(std::move(cancelled)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const {
    WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<const DirectRun> run, RunFor(records));
    return run->Run(program_, columns, kNever, cancelled_);
  }

  bool has_loop() const {
    for (const v1::Step& step : program_->plan.steps()) {
      if (step.control() != v1::Step::CONTROL_NONE) return true;
    }
    const Graph& graph = *program_->graph;
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const std::string& op = graph.node(NodeId(i)).op;
      if (op == "while" || op == "while_rows" || op == "for") return true;
    }
    return false;
  }

 private:
  // Numbers of records that are remembered: full batches and some others.
  static constexpr size_t kMostForms = 16;

  struct Form {
    int64_t records = 0;
    uint64_t last_used = 0;
    std::shared_ptr<const DirectRun> run;
  };

  absl::StatusOr<std::shared_ptr<const DirectRun>> RunFor(int64_t records) const {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (Form& form : forms_) {
        if (form.records != records) continue;
        form.last_used = ++uses_;
        return form.run;
      }
    }
    WEIR_ASSIGN_OR_RETURN(DirectRun made, DirectRun::Make(*program_, {{records_, records}}));
    auto run = std::make_shared<const DirectRun>(std::move(made));
    std::lock_guard<std::mutex> lock(mutex_);
    const Form form = {.records = records, .last_used = ++uses_, .run = run};
    if (forms_.size() < kMostForms) {
      forms_.push_back(form);
    } else {
      *std::min_element(forms_.begin(), forms_.end(), [](const Form& a, const Form& b) {
        return a.last_used < b.last_used;
      }) = form;
    }
    return run;
  }

  const std::shared_ptr<Program> program_;
  const std::string records_;  // the symbol of their number
  const std::shared_ptr<std::atomic<bool>> cancelled_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<Form> forms_;
  mutable uint64_t uses_ = 0;
};

class ProgramFunction : public RecordFunction {
 public:
  explicit ProgramFunction(std::unique_ptr<ProgramCalls> calls) : calls_(std::move(calls)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    auto results = calls_->Call(columns, records);
    if (results.ok() || absl::IsCancelled(results.status())) return results;
    return NameRecord(columns, 0, records, results.status());
  }
  bool has_loop() const override { return calls_->has_loop(); }

 private:
  // Looks for the first record of [begin, end) that fails on its own, by halves: what vectorized
  // code has to say of a failure may hold for all of them. REQUIRES: together they fail so.
  absl::Status NameRecord(absl::Span<const Tensor> columns, int64_t begin, int64_t end,
                          const absl::Status& failure) const {
    if (begin == end) return failure;
    if (end - begin == 1) return Annotate(failure, StrCat("record ", begin));
    const int64_t middle = begin + (end - begin) / 2;
    for (const auto& [from, to] : {std::pair(begin, middle), std::pair(middle, end)}) {
      std::vector<Tensor> rows;
      for (const Tensor& column : columns) rows.push_back(column.Rows(from, to));
      const absl::Status status = calls_->Call(rows, to - from).status();
      if (absl::IsCancelled(status)) return status;
      if (!status.ok()) return NameRecord(columns, from, to, status);
    }
    return failure;  // of all together, such as too little memory
  }

  const std::unique_ptr<ProgramCalls> calls_;
};

class ProgramBatchFunction : public RecordFunction {
 public:
  explicit ProgramBatchFunction(std::unique_ptr<ProgramCalls> calls) : calls_(std::move(calls)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    return calls_->Call(columns, records);
  }
  bool has_loop() const override { return calls_->has_loop(); }

 private:
  const std::unique_ptr<ProgramCalls> calls_;
};

// Of a function without parameters: its results once for each record.
class ProgramConstant : public RecordFunction {
 public:
  ProgramConstant(std::shared_ptr<Program> program, std::shared_ptr<std::atomic<bool>> cancelled)
      : program_(std::move(program)), cancelled_(std::move(cancelled)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor>,
                                           int64_t records) const override {
    WEIR_ASSIGN_OR_RETURN(const DirectRun run, DirectRun::Make(*program_, {}));
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results, run.Run(program_, {}, kNever, cancelled_));
    const std::vector<int64_t> always_first(records, 0);
    for (Tensor& result : results) {
      const Tensor one = result.Contiguous();
      result = GatherRows({one.dtype(), one.extents(), one.raw_data()}, always_first);
    }
    return results;
  }

 private:
  const std::shared_ptr<Program> program_;
  const std::shared_ptr<std::atomic<bool>> cancelled_;
};

absl::StatusOr<std::unique_ptr<RecordFunction>> MakeConstant(
    std::shared_ptr<Program> program, const RecordType& results,
    std::shared_ptr<std::atomic<bool>> cancelled) {
  const v1::Plan& plan = program->plan;
  RecordType found;
  for (const uint32_t value : plan.outputs()) {
    if (value >= program->types.size()) {
      return InvalidArgument("the program's plan has no value ", value);
    }
    found.push_back(program->types[value]);
  }
  if (!plan.inputs().empty() || found != results) {
    return InvalidArgument("the program has ", plan.inputs_size(), " inputs and outputs of ",
                           ToString(found), ", the function none and ", ToString(results));
  }
  return std::make_unique<ProgramConstant>(std::move(program), std::move(cancelled));
}

enum class LeadingAxis { kRecords, kAny };

absl::Status CheckColumns(const Program& program, std::string_view what,
                          absl::Span<const uint32_t> values, const RecordType& record,
                          const Dim& records, LeadingAxis axis) {
  if (values.size() != record.size()) {
    return InvalidArgument("the program has ", values.size(), " ", what, "s, the function ",
                           ToString(record));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorType& type = program.types[values[i]];
    const bool fits = IsColumn(type, record[i]);
    if (fits && (axis == LeadingAxis::kAny || type.shape[0] == records)) continue;
    return InvalidArgument("the program's ", what, " ", NameOf(program.plan, values[i]), " is ",
                           type.ToString(), ", not ", record[i].ToString(), " for each of ",
                           records.ToString(), " records");
  }
  return absl::OkStatus();
}

// Checks the program. `results`: which leading axis its outputs have.
absl::StatusOr<std::unique_ptr<ProgramCalls>> MakeCalls(
    std::shared_ptr<Program> program, const RecordSignature& signature,
    std::shared_ptr<std::atomic<bool>> cancelled, LeadingAxis results) {
  const v1::Plan& plan = program->plan;
  for (const auto* values : {&plan.inputs(), &plan.outputs()}) {
    for (const uint32_t value : *values) {
      if (value < program->types.size()) continue;
      return InvalidArgument("the program's plan has no value ", value);
    }
  }
  if (plan.inputs().empty()) return InvalidArgument("the program has no input");
  const TensorType& first = program->types[plan.inputs(0)];
  if (first.rank() == 0 || !first.shape[0].is_symbol()) {
    return InvalidArgument("the program's input ", NameOf(plan, plan.inputs(0)), " is ",
                           first.ToString(), ", without a symbol for the number of records");
  }
  const Dim records = first.shape[0];
  WEIR_RETURN_IF_ERROR(CheckColumns(*program, "input", plan.inputs(), signature.parameters, records,
                                    LeadingAxis::kRecords));
  WEIR_RETURN_IF_ERROR(
      CheckColumns(*program, "output", plan.outputs(), signature.results, records, results));
  std::string symbol = records.symbol();
  return std::make_unique<ProgramCalls>(std::move(program), std::move(symbol),
                                        std::move(cancelled));
}

RecordType WithoutLeadingAxis(RecordType columns) {
  for (TensorType& column : columns) {
    std::vector<Dim>& dims = column.shape.dims();
    if (!dims.empty()) dims.erase(dims.begin());
  }
  return columns;
}

}  // namespace

RecordSignature RecordSignature::Of(const Graph& graph, std::string_view function) {
  const Region& body = graph.region(graph.FindFunction(function)->body);
  RecordSignature signature;
  for (const ValueId value : body.args) signature.parameters.push_back(graph.type(value));
  for (const ValueId value : body.results) signature.results.push_back(graph.type(value));
  return signature;
}

RecordSignature RecordSignature::OfBatch(const Graph& graph, std::string_view function) {
  const RecordSignature all = Of(graph, function);
  return {WithoutLeadingAxis(all.parameters), WithoutLeadingAxis(all.results)};
}

absl::StatusOr<std::unique_ptr<RecordFunction>> MakeProgramFunction(
    std::shared_ptr<Program> program, const RecordSignature& signature,
    std::shared_ptr<std::atomic<bool>> cancelled) {
  if (signature.parameters.empty()) {
    return MakeConstant(std::move(program), signature.results, std::move(cancelled));
  }
  WEIR_ASSIGN_OR_RETURN(
      std::unique_ptr<ProgramCalls> calls,
      MakeCalls(std::move(program), signature, std::move(cancelled), LeadingAxis::kRecords));
  return std::make_unique<ProgramFunction>(std::move(calls));
}

absl::StatusOr<std::unique_ptr<RecordFunction>> MakeProgramBatchFunction(
    std::shared_ptr<Program> program, const RecordSignature& signature,
    std::shared_ptr<std::atomic<bool>> cancelled) {
  WEIR_ASSIGN_OR_RETURN(
      std::unique_ptr<ProgramCalls> calls,
      MakeCalls(std::move(program), signature, std::move(cancelled), LeadingAxis::kAny));
  return std::make_unique<ProgramBatchFunction>(std::move(calls));
}

}  // namespace weir
