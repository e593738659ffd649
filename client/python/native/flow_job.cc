#include "client/python/native/flow_job.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <limits>
#include <utility>

#include "absl/time/clock.h"
#include "client/python/native/arrays.h"
#include "client/python/native/errors.h"
#include "client/python/native/record_batches.h"
#include "common/base/status.h"

namespace py = pybind11;

namespace weir::python {
namespace {

// How often a waiting call looks for Ctrl-C.
constexpr absl::Duration kSignalPeriod = absl::Milliseconds(200);
// The same while a flow is made ready, which begins anew each time.
constexpr absl::Duration kAttachPeriod = absl::Seconds(5);

constexpr int64_t kEveryEpoch = std::numeric_limits<int64_t>::max();

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <class T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Calls `work(deadline)`, with ever new deadlines, until it returns something else than that time
// is up, or the timeout is over, or the user interrupts.
template <class Work>
auto Await(Timeout timeout, absl::Duration period, const Work& work) {
  const absl::Time end =
      timeout.has_value() ? absl::Now() + absl::Seconds(*timeout) : absl::InfiniteFuture();
  while (true) {
    auto result = [&] {
      py::gil_scoped_release unlocked;
      return work(std::min(absl::Now() + period, end));
    }();
    if (!absl::IsDeadlineExceeded(StatusOf(result)) || absl::Now() >= end) return result;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

py::object ToResult(const std::optional<FlowResult>& result) {
  if (!result.has_value()) return py::none();
  const py::tuple records = FromBatch(result->batch);
  return py::make_tuple(result->epoch, records[0], records[1]);
}

}  // namespace

FlowJob::Held::~Held() {
  py::gil_scoped_release unlocked;
  attached_.reset();
}

FlowJob::FlowJob(std::shared_ptr<Session> session, std::string id, const Names& inputs,
                 const Names& outputs)
    : id_(std::move(id)) {
  attached_ = std::make_shared<Attached>(Attached{std::move(session), nullptr});
  AttachOptions options;
  options.inputs = inputs;
  options.outputs = outputs;
  auto flow = Await(std::nullopt, kAttachPeriod, [&](absl::Time deadline) {
    return DeployedFlow::Attach(attached_->session, id_, options, deadline);
  });
  attached_->flow = ValueOrRaise(std::move(flow));
}

FlowJob::Held FlowJob::Use() const {
  if (attached_ != nullptr) return Held(attached_);
  Raise(absl::FailedPreconditionError(
      StrCat("flow ", id_, " is detached; session.attach('", id_, "') attaches to it again")));
}

py::list FlowJob::Types(const std::string& name) const {
  return FromRecordType(ValueOrRaise(Use().flow().TypeOf(name)));
}

void FlowJob::Send(const std::string& input, int64_t epoch, const py::sequence& columns,
                   const py::object& weights, Timeout timeout) {
  const Held held = Use();
  const RecordBatch batch = ToBatch(columns, weights, 0);
  RaiseIfError(Await(timeout, kSignalPeriod, [&](absl::Time deadline) {
    return held.flow().Send(input, epoch, batch, deadline);
  }));
}

int64_t FlowJob::EpochOf(const std::string& input) const {
  return ValueOrRaise(Use().flow().EpochOf(input));
}

void FlowJob::Advance(const std::string& input, int64_t epoch) {
  const Held held = Use();
  absl::Status status;
  {
    py::gil_scoped_release unlocked;
    status = held.flow().Advance(input, epoch);
  }
  RaiseIfError(status);
}

void FlowJob::CloseInput(const std::string& input) {
  const Held held = Use();
  absl::Status status;
  {
    py::gil_scoped_release unlocked;
    status = held.flow().CloseInput(input);
  }
  RaiseIfError(status);
}

py::object FlowJob::Next(const std::string& output, Timeout timeout) {
  const Held held = Use();
  return ToResult(ValueOrRaise(Await(timeout, kSignalPeriod, [&](absl::Time deadline) {
    return held.flow().Next(output, deadline);
  })));
}

py::object FlowJob::NextEpoch(const std::string& output, Timeout timeout) {
  const Held held = Use();
  return ToResult(ValueOrRaise(Await(timeout, kSignalPeriod, [&](absl::Time deadline) {
    return TakeEpoch(held.flow(), output, deadline);
  })));
}

// Epochs are complete only once all their records have come, so what is complete is asked for
// before what has come is taken.
absl::StatusOr<std::optional<FlowResult>> FlowJob::TakeEpoch(DeployedFlow& flow,
                                                             const std::string& output,
                                                             absl::Time deadline) {
  WEIR_ASSIGN_OR_RETURN(const RecordType type, flow.TypeOf(output));
  while (true) {
    WEIR_ASSIGN_OR_RETURN(int64_t complete, flow.CompleteBefore(output));
    absl::StatusOr<std::optional<FlowResult>> next = flow.Next(output, absl::Now());
    for (; next.ok() && next->has_value(); next = flow.Next(output, absl::Now())) {
      Keep(output, **std::move(next));
    }
    const bool is_finished = next.ok();
    if (!is_finished && !absl::IsDeadlineExceeded(next.status())) return next.status();
    if (is_finished) complete = kEveryEpoch;
    if (auto taken = TakeBefore(output, complete, type)) return taken;
    if (is_finished) return std::nullopt;
    std::optional<int64_t> first;
    {
      std::lock_guard lock(mutex_);
      const Pending& pending = pending_[output];
      if (!pending.empty()) first = pending.begin()->first;
    }
    if (first.has_value()) {
      WEIR_RETURN_IF_ERROR(flow.AwaitComplete(output, *first, deadline));
      continue;
    }
    WEIR_ASSIGN_OR_RETURN(next, flow.Next(output, deadline));
    if (next->has_value()) Keep(output, **std::move(next));
  }
}

void FlowJob::Keep(const std::string& output, FlowResult result) {
  std::lock_guard lock(mutex_);
  pending_[output][result.epoch].push_back(std::move(result.batch));
}

std::optional<FlowResult> FlowJob::TakeBefore(const std::string& output, int64_t epoch,
                                              const RecordType& type) {
  std::lock_guard lock(mutex_);
  Pending& pending = pending_[output];
  while (!pending.empty() && pending.begin()->first < epoch) {
    const auto first = pending.extract(pending.begin());
    RecordBatch batch = Consolidated(ConcatBatches(first.mapped(), type));
    if (!batch.empty()) return FlowResult{first.key(), std::move(batch)};
  }
  return std::nullopt;
}

void FlowJob::AwaitComplete(const std::string& output, int64_t epoch, Timeout timeout) {
  const Held held = Use();
  RaiseIfError(Await(timeout, kSignalPeriod, [&](absl::Time deadline) {
    return held.flow().AwaitComplete(output, epoch, deadline);
  }));
}

void FlowJob::AwaitEnd(Timeout timeout) {
  const Held held = Use();
  const v1::Job job = ValueOrRaise(Await(
      timeout, kSignalPeriod, [&](absl::Time deadline) { return held.flow().AwaitEnd(deadline); }));
  if (job.state() == v1::Job::SUCCEEDED) return;
  Raise(absl::Status(static_cast<absl::StatusCode>(job.failure().code()), job.failure().message()));
}

py::list FlowJob::TakeFailures() {
  py::list failures;
  for (const v1::FlowRecordFailure& each : Use().flow().TakeFailures()) {
    failures.append(py::make_tuple(each.epoch(), each.origin(), each.failure().message()));
  }
  return failures;
}

py::object FlowJob::Frontier(const std::string& name) const {
  const Held held = Use();
  absl::StatusOr<v1::FlowStatus> status;
  {
    py::gil_scoped_release unlocked;
    status = held.session().GetFlow(id_);
  }
  const v1::FlowStatus found = ValueOrRaise(std::move(status));
  const auto frontier = [](int64_t epoch, bool is_finished) {
    return is_finished ? py::object(py::none()) : py::object(py::int_(epoch));
  };
  for (const auto& each : found.inputs()) {
    const v1::FlowInput& input = each.input();
    if (input.name() == name) return frontier(input.epoch(), input.closed());
  }
  for (const auto* ends : {&found.outputs(), &found.probes()}) {
    for (const auto& end : *ends) {
      if (end.name() == name) return frontier(end.epoch(), end.finished());
    }
  }
  Raise(absl::NotFoundError(StrCat("flow ", id_, " has no input, output or probe '", name, "'")));
}

std::string FlowJob::Explain(const std::string& vertex) const {
  const Held held = Use();
  absl::StatusOr<std::string> text;
  {
    py::gil_scoped_release unlocked;
    text = held.flow().Explain(vertex);
  }
  return ValueOrRaise(std::move(text));
}

void FlowJob::Cancel() {
  const Held held = Use();
  absl::StatusOr<v1::Job> job;
  {
    py::gil_scoped_release unlocked;
    job = held.flow().Cancel();
  }
  RaiseIfError(job.status());
}

void FlowJob::Detach() { Held(std::move(attached_)); }

void BindFlowJob(py::module_& module) {
  const auto timeout = py::arg("timeout") = py::none();
  py::class_<FlowJob>(module, "FlowJob")
      .def_property_readonly("id", &FlowJob::id)
      .def_property_readonly("inputs", &FlowJob::inputs)
      .def_property_readonly("outputs", &FlowJob::outputs)
      .def("types", &FlowJob::Types)
      .def("send", &FlowJob::Send, py::arg("input"), py::arg("epoch"), py::arg("columns"),
           py::arg("weights"), timeout)
      .def("epoch_of", &FlowJob::EpochOf)
      .def("advance", &FlowJob::Advance)
      .def("close_input", &FlowJob::CloseInput)
      .def("next", &FlowJob::Next, py::arg("output"), timeout)
      .def("next_epoch", &FlowJob::NextEpoch, py::arg("output"), timeout)
      .def("await_complete", &FlowJob::AwaitComplete, py::arg("output"), py::arg("epoch"), timeout)
      .def("await_end", &FlowJob::AwaitEnd, timeout)
      .def("take_failures", &FlowJob::TakeFailures)
      .def("frontier", &FlowJob::Frontier)
      .def("explain", &FlowJob::Explain)
      .def("cancel", &FlowJob::Cancel)
      .def("detach", &FlowJob::Detach);
}

}  // namespace weir::python
