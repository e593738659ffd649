// A client of tests/bench/timely: many threads, each with a connection of its own, call a flow with
// one record at a time. Prints one line: calls per second, and the median and the 99th percentile
// of their times.
//
//   flow_calls_bench ADDRESS FLOW.txt CLIENTS SECONDS
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/api/remote_session.h"
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

struct Client {
  std::unique_ptr<Session> session;
  std::vector<double> micros;
};

double At(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

int Main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: flow_calls_bench ADDRESS FLOW.txt CLIENTS SECONDS\n");
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

  std::vector<Client> clients(std::strtoul(argv[3], nullptr, 10));
  for (Client& client : clients) client.session = OrDie(ConnectRemote({.address = argv[1]}));
  const absl::Time begin = absl::Now() + kWarmUp;
  const absl::Time end = begin + absl::Seconds(std::strtod(argv[4], nullptr));
  std::vector<std::thread> threads;
  for (Client& client : clients) {
    threads.emplace_back([&] {
      for (absl::Time sent = absl::Now(); sent < end;) {
        OrDie(client.session->CallFlow(request, record));
        const absl::Time answered = absl::Now();
        if (sent >= begin) client.micros.push_back(absl::ToDoubleMicroseconds(answered - sent));
        sent = answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const Client& client : clients) {
    all.insert(all.end(), client.micros.begin(), client.micros.end());
  }
  std::sort(all.begin(), all.end());
  const double seconds = absl::ToDoubleSeconds(end - begin);
  const double epochs =
      static_cast<double>(OrDie(session->GetFlow(request.id())).inputs(0).input().epoch());
  std::printf("%.0f %.0f %.0f %.1f\n", static_cast<double>(all.size()) / seconds, At(all, 0.5),
              At(all, 0.99), static_cast<double>(all.size()) / epochs);
  OrDie(session->Cancel(request.id()));
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
