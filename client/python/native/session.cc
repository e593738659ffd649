#include "client/python/native/session.h"

#include <google/protobuf/util/json_util.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/api/remote_session.h"
#include "client/api/session.h"
#include "client/embedded/embedded_cluster.h"
#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "client/python/native/flow_job.h"
#include "common/base/byte_size.h"
#include "common/base/status.h"

namespace py = pybind11;

namespace weir::python {
namespace {

// How often a waiting call looks for Ctrl-C.
constexpr absl::Duration kSignalPeriod = absl::Milliseconds(200);
// Of which a session remembers what the coordinator is asked for.
constexpr size_t kMostPrograms = 100'000;

// What is submitted for the runs of one program.
struct Program {
  v1::JobSpec spec;
  // The same without the source, for coordinators that know the program.
  v1::JobSpec brief;
  // Names of the inputs that variables give, behind the others; which of them the program writes,
  // each a result behind the others, which are `results`.
  std::vector<std::string> variables;
  std::vector<size_t> written;
  uint32_t results = 0;
  uint64_t number = 0;  // no other of this process has it
  bool prints = false;
};

std::shared_ptr<Program> MakeProgram(const py::bytes& source, const std::string& name,
                                     const std::vector<std::string>& inputs, bool strict,
                                     bool prints, std::vector<std::string> variables,
                                     std::vector<size_t> written, uint32_t results) {
  static std::atomic<uint64_t> made{0};
  auto program = std::make_shared<Program>();
  program->number = ++made;
  program->prints = prints;
  program->variables = std::move(variables);
  program->written = std::move(written);
  program->results = results;
  v1::Program& sent = *program->spec.mutable_program();
  sent.set_format(v1::Program::FORMAT_TEXT);
  sent.set_source(source.cast<std::string>());
  sent.set_name(name);
  sent.set_mode(v1::Program::MODE_VECTORIZED);
  sent.set_strict(strict);
  for (const std::string& input : inputs) program->brief.add_input_names(input);
  program->brief.mutable_program()->set_name(name);
  *program->spec.mutable_input_names() = program->brief.input_names();
  return program;
}

py::object FromMessage(const google::protobuf::Message& message) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) Raise(absl::InternalError(status.ToString()));
  return py::module_::import("json").attr("loads")(json);
}

std::vector<Tensor> ToTensors(const py::sequence& arrays) {
  std::vector<Tensor> tensors;
  tensors.reserve(arrays.size());
  for (const py::handle& array : arrays) {
    tensors.push_back(ToTensor(py::cast<py::array>(array)));
  }
  return tensors;
}

class PySession {
 public:
  explicit PySession(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  ~PySession() { Close(); }

  // `variables` are the ids of those that the program uses. Returns: a list of arrays.
  py::list Run(const Program& program, const py::sequence& inputs, int workers,
               int64_t memory_budget, std::vector<std::string> variables) {
    const std::vector<Tensor> tensors = ToTensors(inputs);
    const RunOptions options{static_cast<uint32_t>(workers), memory_budget, false,
                             std::move(variables)};
    if (auto results = RunHere(program, options, tensors)) {
      ++calls_without_job_;
      return ToArrays(*results, tensors);
    }
    return ToArrays(Results(RunJob(program, options, tensors).id()), tensors);
  }

  // Returns: (list of arrays, report with a profile), the report as a message, since few want it as
  // a dictionary.
  py::tuple RunWithReport(const Program& program, const py::sequence& inputs, int workers,
                          int64_t memory_budget, std::vector<std::string> variables) {
    const std::vector<Tensor> tensors = ToTensors(inputs);
    const v1::Job job =
        RunJob(program, {static_cast<uint32_t>(workers), memory_budget, true, std::move(variables)},
               tensors);
    return py::make_tuple(ToArrays(Results(job.id()), tensors), job.report());
  }

  py::tuple Explain(const Program& program) {
    const ExplainResult result = ValueOrRaise(
        Unlocked([&](Session& session) { return session.Explain(program.spec.program()); }));
    py::list stages;
    py::list fallbacks;
    for (const v1::ExplainStage& stage : result.stages) stages.append(FromMessage(stage));
    for (const v1::Fallback& each : result.fallbacks) fallbacks.append(FromMessage(each));
    return py::make_tuple(stages, fallbacks, result.notes);
  }

  // Returns: the id.
  std::string CreateVariable(const std::string& name, const py::array& value) {
    v1::NewVariable request;
    request.set_name(name);
    const Tensor tensor = ToTensor(value);
    return ValueOrRaise(
               Unlocked([&](Session& session) { return session.CreateVariable(request, tensor); }))
        .id();
  }

  py::array ReadVariable(const std::string& id) {
    return ToArray(
        ValueOrRaise(Unlocked([&](Session& session) { return session.ReadVariable(id); })),
        Memory::kOwn);
  }

  void DeleteVariable(const std::string& id) {
    RaiseIfError(Unlocked([&](Session& session) { return session.DeleteVariable(id); }));
  }

  py::list Variables() {
    const std::vector<v1::Variable> variables =
        ValueOrRaise(Unlocked([](Session& session) { return session.ListVariables(); }));
    py::list out;
    for (const v1::Variable& variable : variables) out.append(FromMessage(variable));
    return out;
  }

  py::list Workers() {
    const std::vector<v1::Worker> workers =
        ValueOrRaise(Unlocked([](Session& session) { return session.Workers(); }));
    py::list out;
    for (const v1::Worker& worker : workers) out.append(FromMessage(worker));
    return out;
  }

  // Returns: the id of the job, which outlives the session of a cluster elsewhere.
  std::string Deploy(const std::string& text, const std::string& name, int workers) {
    v1::DeployRequest request;
    request.set_flow(text);
    request.set_name(name);
    request.set_workers(static_cast<uint32_t>(workers));
    return ValueOrRaise(Unlocked([&](Session& session) { return session.Deploy(request); }))
        .job()
        .id();
  }

  std::unique_ptr<FlowJob> Attach(const std::string& id, const FlowJob::Names& inputs,
                                  const FlowJob::Names& outputs) {
    CheckOpen();
    return std::make_unique<FlowJob>(session_, id, inputs, outputs);
  }

  // One record into a deployed flow; returns the columns of the one that comes out for it.
  py::list CallFlow(const std::string& id, const std::string& input, const std::string& output,
                    const py::sequence& record) {
    v1::CallFlowRequest request;
    request.set_id(id);
    request.set_input(input);
    request.set_output(output);
    const std::vector<Tensor> columns = ToTensors(record);
    return ToArrays(ValueOrRaise(Unlocked(
                        [&](Session& session) { return session.CallFlow(request, columns); })),
                    columns);
  }

  void Cancel(const std::string& id) {
    RaiseIfError(Unlocked([&](Session& session) { return session.Cancel(id); }).status());
  }

  int64_t calls_without_job() const { return calls_without_job_; }

  // Later calls fail; an embedded cluster ends when the last call that uses it has returned.
  void Close() {
    std::shared_ptr<Session> closed = std::move(session_);
    py::gil_scoped_release unlocked;
    closed.reset();
  }

 private:
  struct RunOptions {
    uint32_t workers = 0;
    int64_t memory_budget = 0;
    bool profile = false;
    std::vector<std::string> variables;  // ids

    friend bool operator==(const RunOptions&, const RunOptions&) = default;
  };

  // What a coordinator that knows a program is asked for.
  struct Request {
    RunOptions options;
    v1::JobSpec spec;
  };

  void CheckOpen() const {
    if (session_ != nullptr) return;
    Raise(absl::FailedPreconditionError("this session is closed; weir.connect() makes another"));
  }

  // Calls `work` without the interpreter's lock. Who is the last to use a closed session ends the
  // cluster without it too, as threads of the cluster may wait for it.
  template <class Work>
  std::invoke_result_t<Work, Session&> Unlocked(Work work) const {
    CheckOpen();
    std::shared_ptr<Session> session = session_;
    py::gil_scoped_release unlocked;
    auto result = work(*session);
    session.reset();
    return result;
  }

  // `spec` is that of the program, or its brief one.
  static v1::JobSpec SpecOf(const Program& program, v1::JobSpec spec, const RunOptions& options) {
    spec.set_workers(options.workers);
    spec.set_memory_budget(options.memory_budget);
    spec.set_profile(options.profile);
    for (size_t i = 0; i < options.variables.size(); ++i) {
      v1::VariableInput* input = spec.add_variable_inputs();
      input->set_input(program.variables.at(i));
      input->set_variable(options.variables[i]);
    }
    for (size_t i = 0; i < program.written.size(); ++i) {
      v1::VariableOutput* output = spec.add_variable_outputs();
      output->set_result(program.results + static_cast<uint32_t>(i));
      output->set_variable(options.variables.at(program.written[i]));
    }
    return spec;
  }

  // Returns: null for a program that this session has not sent.
  std::shared_ptr<const Request> RequestFor(const Program& program, const RunOptions& options) {
    const auto known = requests_.find(program.number);
    if (known == requests_.end()) return nullptr;
    if (known->second->options != options) {
      Remember(program, options, known->second->spec.program_id());
    }
    return known->second;
  }

  void Remember(const Program& program, const RunOptions& options, const std::string& id) {
    auto request =
        std::make_shared<Request>(Request{options, SpecOf(program, program.brief, options)});
    request->spec.set_program_id(id);
    // Programs that are gone leave their requests behind.
    if (requests_.size() >= kMostPrograms) requests_.clear();
    requests_.insert_or_assign(program.number, std::move(request));
  }

  std::optional<std::vector<Tensor>> RunHere(const Program& program, const RunOptions& options,
                                             const std::vector<Tensor>& inputs) {
    const std::shared_ptr<const Request> request = RequestFor(program, options);
    if (request == nullptr) return std::nullopt;
    return Unlocked([&](Session& session) { return session.RunHere(request->spec, inputs); });
  }

  // Returns: the job, which has succeeded; raises otherwise.
  v1::Job RunJob(const Program& program, const RunOptions& options,
                 const std::vector<Tensor>& inputs) {
    v1::Job job = WaitFor(Submit(program, options, inputs));
    if (program.prints) PrintLines(job.id());
    if (job.state() != v1::Job::SUCCEEDED) {
      Raise(absl::Status(static_cast<absl::StatusCode>(job.failure().code()),
                         job.failure().message()));
    }
    return job;
  }

  // Returns: the id of the job.
  std::string Submit(const Program& program, const RunOptions& options,
                     const std::vector<Tensor>& inputs) {
    if (const auto request = RequestFor(program, options)) {
      absl::StatusOr<v1::SubmitResponse> submitted = Submit(request->spec, inputs);
      if (submitted.ok()) return submitted->job().id();
      if (!absl::IsNotFound(submitted.status())) Raise(submitted.status());
    }
    const v1::SubmitResponse response =
        ValueOrRaise(Submit(SpecOf(program, program.spec, options), inputs));
    Remember(program, options, response.program_id());
    return response.job().id();
  }

  absl::StatusOr<v1::SubmitResponse> Submit(const v1::JobSpec& spec,
                                            const std::vector<Tensor>& inputs) {
    return Unlocked([&](Session& session) { return session.Submit(spec, inputs); });
  }

  v1::Job WaitFor(const std::string& id) {
    while (true) {
      v1::Job job =
          ValueOrRaise(Unlocked([&](Session& session) { return session.Wait(id, kSignalPeriod); }));
      if (IsTerminal(job.state())) return job;
      if (PyErr_CheckSignals() == 0) continue;
      Unlocked([&](Session& session) { return session.Cancel(id); }).IgnoreError();
      throw py::error_already_set();
    }
  }

  // To Python's stdout.
  void PrintLines(const std::string& id) {
    std::vector<std::string> lines;
    const auto add = [&](const v1::LogEntry& entry) {
      if (entry.is_printed()) lines.push_back(entry.text());
    };
    RaiseIfError(Unlocked(
        [&](Session& session) { return session.Logs(id, 0, Session::LogMode::kSoFar, add); }));
    for (const std::string& line : lines) py::print(line);
  }

  std::vector<Tensor> Results(const std::string& id) {
    std::vector<NamedTensor> results = ValueOrRaise(Unlocked([&](Session& session) {
      auto kept = session.Result(id);
      session.Release(id);
      return kept;
    }));
    std::vector<Tensor> tensors;
    for (NamedTensor& result : results) tensors.push_back(std::move(result.tensor));
    return tensors;
  }

  // A result that lies in the memory of an input or of another result is copied: arrays change.
  static py::list ToArrays(const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) {
    py::list arrays(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const auto overlaps = [&](const Tensor& other) { return Overlap(results[i], other); };
      const bool shared = std::any_of(inputs.begin(), inputs.end(), overlaps) ||
                          std::any_of(results.begin(), results.begin() + i, overlaps);
      arrays[i] = ToArray(results[i], shared ? Memory::kShared : Memory::kOwn);
    }
    return arrays;
  }

  static bool Overlap(const Tensor& a, const Tensor& b) {
    if (a.buffer() == nullptr || b.buffer() == nullptr) return false;
    const std::byte* a_begin = a.buffer()->data();
    const std::byte* b_begin = b.buffer()->data();
    return a_begin < b_begin + b.buffer()->size() && b_begin < a_begin + a.buffer()->size();
  }

  std::shared_ptr<Session> session_;
  int64_t calls_without_job_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const Request>> requests_;  // by Program::number
};

std::unique_ptr<PySession> StartEmbeddedSession(int workers, int threads_per_worker) {
  absl::StatusOr<std::unique_ptr<Session>> session;
  {
    py::gil_scoped_release unlocked;
    session = StartEmbedded({.workers = workers, .threads_per_worker = threads_per_worker});
  }
  return std::make_unique<PySession>(ValueOrRaise(std::move(session)));
}

std::unique_ptr<PySession> ConnectToServer(const std::string& address) {
  absl::StatusOr<std::unique_ptr<Session>> session;
  {
    py::gil_scoped_release unlocked;
    session = ConnectRemote({.address = address});
  }
  return std::make_unique<PySession>(ValueOrRaise(std::move(session)));
}

}  // namespace

void BindSession(py::module_& module) {
  py::class_<Program, std::shared_ptr<Program>>(module, "Program")
      .def(py::init(&MakeProgram), py::arg("source"), py::arg("name"), py::arg("inputs"),
           py::arg("strict"), py::arg("prints") = false,
           py::arg("variables") = std::vector<std::string>(),
           py::arg("written") = std::vector<size_t>(), py::arg("results") = 0);
  py::class_<v1::JobReport>(module, "Report").def("to_dict", [](const v1::JobReport& report) {
    return FromMessage(report);
  });
  py::class_<PySession>(module, "Session")
      .def("run", &PySession::Run, py::arg("program"), py::arg("inputs"), py::arg("workers"),
           py::arg("memory_budget") = 0, py::arg("variables") = std::vector<std::string>())
      .def("run_with_report", &PySession::RunWithReport, py::arg("program"), py::arg("inputs"),
           py::arg("workers"), py::arg("memory_budget") = 0,
           py::arg("variables") = std::vector<std::string>())
      .def("create_variable", &PySession::CreateVariable)
      .def("read_variable", &PySession::ReadVariable)
      .def("delete_variable", &PySession::DeleteVariable)
      .def("variables", &PySession::Variables)
      .def("explain", &PySession::Explain)
      .def("deploy", &PySession::Deploy)
      .def("attach", &PySession::Attach, py::arg("id"), py::arg("inputs") = py::none(),
           py::arg("outputs") = py::none())
      .def("call_flow", &PySession::CallFlow)
      .def("cancel", &PySession::Cancel)
      .def("workers", &PySession::Workers)
      .def_property_readonly("calls_without_job", &PySession::calls_without_job)
      .def("close", &PySession::Close);
  module.def("start_embedded", &StartEmbeddedSession, py::arg("workers"),
             py::arg("threads_per_worker"));
  module.def("connect", &ConnectToServer);
  module.def("parse_byte_size",
             [](const std::string& text) { return ValueOrRaise(ParseByteSize(text)); });
}

}  // namespace weir::python
