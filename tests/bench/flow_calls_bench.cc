// Clients of tests/bench/timely: each calls a flow with one record after the other, on a stream of
// its own; they are callbacks on the threads of gRPC, so that many of them cost no threads. Prints
// one line: calls per second, the median and the 99th percentile of their times in microseconds,
// calls in an epoch, and the processor time of a call in microseconds: of this process, then of
// each PID.
//
//   flow_calls_bench ADDRESS FLOW.txt CLIENTS SECONDS [PID...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/api/remote_session.h"
#include "common/base/service_process.h"
#include "common/base/status.h"
#include "common/flow/flow_text.h"

namespace weir {
namespace {

constexpr absl::Duration kWarmUp = absl::Seconds(1);

template <class T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

std::vector<Tensor> RecordFor(const Flow& flow) {
  std::vector<Tensor> record;
  for (const FlowVertex& vertex : flow.vertices) {
    if (vertex.kind != "input") continue;
    for (const TensorType& column : vertex.output_types[0]) {
      Tensor value(column.dtype, column.shape.extents());
      for (int64_t i = 0; i < value.num_elements(); ++i) {
        value.mutable_data<float>()[i] = static_cast<float>(i % 17) / 17;
      }
      record.push_back(std::move(value));
    }
  }
  return record;
}

struct Span {
  absl::Time begin;
  absl::Time end;
};

// Calls again as soon as it is answered, until the end.
class Client {
 public:
  Client(const std::string& address, const v1::CallFlowRequest& request,
         const std::vector<Tensor>& record, Span timed)
      : record_(record),
        timed_(timed),
        session_(OrDie(ConnectRemote({.address = address}))),
        caller_(session_->OpenCaller(request)) {}

  void Begin() { Call(absl::Now()); }
  // Returns: the times of calls that began in the span.
  const std::vector<double>& Await() {
    done_.WaitForNotification();
    return micros_;
  }

 private:
  void Call(absl::Time sent) {
    caller_->Call(record_, [this, sent](absl::StatusOr<std::vector<Tensor>> columns) {
      OrDie(std::move(columns));
      const absl::Time answered = absl::Now();
      const bool is_timed = sent >= timed_.begin && answered <= timed_.end;
      if (is_timed) micros_.push_back(absl::ToDoubleMicroseconds(answered - sent));
      if (answered >= timed_.end) return done_.Notify();
      Call(answered);
    });
  }

  const std::vector<Tensor>& record_;
  const Span timed_;
  const std::unique_ptr<Session> session_;
  std::vector<double> micros_;
  absl::Notification done_;
  const std::unique_ptr<FlowCaller> caller_;  // ends before what its answers use
};

// What all threads of a process have used so far; "self" is this one.
double CpuMicros(const std::string& process) {
  double nanos = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task")) {
    double used = 0;
    if (std::ifstream(task.path() / "schedstat") >> used) nanos += used;
  }
  return nanos / 1000;
}

std::vector<double> CpuMicros(const std::vector<std::string>& processes) {
  std::vector<double> micros;
  for (const std::string& process : processes) micros.push_back(CpuMicros(process));
  return micros;
}

double At(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: flow_calls_bench ADDRESS FLOW.txt CLIENTS SECONDS [PID...]\n");
    return 2;
  }
  std::ostringstream text;
  text << std::ifstream(argv[2]).rdbuf();
  const Flow flow = OrDie(ParseFlow(text.str()));
  const std::vector<Tensor> record = RecordFor(flow);
  const std::unique_ptr<Session> session = OrDie(ConnectRemote({.address = argv[1]}));
  v1::DeployRequest deploy;
  deploy.set_flow(text.str());
  v1::CallFlowRequest request;
  request.set_id(OrDie(session->Deploy(deploy)).job().id());
  OrDie(session->CallFlow(request, record));

  std::vector<std::string> processes = {"self"};
  processes.insert(processes.end(), argv + 5, argv + argc);
  const absl::Time begin = absl::Now() + kWarmUp;
  const Span timed = {begin, begin + absl::Seconds(std::strtod(argv[4], nullptr))};
  std::vector<std::unique_ptr<Client>> clients(std::strtoul(argv[3], nullptr, 10));
  for (auto& client : clients) {
    client = std::make_unique<Client>(argv[1], request, record, timed);
    client->Begin();
  }
  absl::SleepFor(timed.begin - absl::Now());
  const std::vector<double> used_before = CpuMicros(processes);
  const auto records = [&] { return OrDie(session->GetFlow(request.id())).inputs(0); };
  const v1::FlowStatus::Input input_before = records();
  absl::SleepFor(timed.end - absl::Now());
  const std::vector<double> used = CpuMicros(processes);
  const v1::FlowStatus::Input input = records();

  std::vector<double> all;
  for (const auto& client : clients) {
    const std::vector<double>& micros = client->Await();
    all.insert(all.end(), micros.begin(), micros.end());
  }
  std::sort(all.begin(), all.end());
  const auto calls = static_cast<double>(all.size());
  const auto epochs = static_cast<double>(input.input().epoch() - input_before.input().epoch());
  std::printf("%.0f %.0f %.0f %.1f", calls / absl::ToDoubleSeconds(timed.end - timed.begin),
              At(all, 0.5), At(all, 0.99),
              static_cast<double>(input.records() - input_before.records()) / epochs);
  for (size_t i = 0; i < used.size(); ++i) {
    std::printf(" %.1f", (used[i] - used_before[i]) / calls);
  }
  std::printf("\n");
  clients.clear();
  OrDie(session->Cancel(request.id()));
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  weir::BecomeServiceProcess();
  return weir::Main(argc, argv);
}
