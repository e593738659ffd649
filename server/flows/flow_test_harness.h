// A coordinator core with flows, workers and clients; for tests.
#ifndef WEIR_SERVER_FLOWS_FLOW_TEST_HARNESS_H_
#define WEIR_SERVER_FLOWS_FLOW_TEST_HARNESS_H_

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/flows/flow_test_worker.h"
#include "server/jobs/core_test_harness.h"

namespace weir {

class FlowHarness : public CoreHarness {
 public:
  explicit FlowHarness(Limits limits = {}) : CoreHarness(limits), limits_(limits) {}

  absl::StatusOr<CoordinatorCore::Accepted> Deploy(const std::string& text = kCopy,
                                                   const std::string& submission_id = "",
                                                   uint32_t workers = 0) {
    v1::DeployRequest request;
    request.set_flow(text);
    request.set_submission_id(submission_id);
    request.set_workers(workers);
    auto prepared = PrepareFlow(request, limits_);
    if (!prepared.ok()) return prepared.status();
    topology = prepared->topology;
    return core.Deploy(*std::move(prepared));
  }

  // Workers 1 .. `count` with the flow, which runs. Returns: its job.
  std::string DeployOn(int count) {
    for (int w = 1; w <= count; ++w) AddWorker(w, std::string(1, static_cast<char>('a' + w - 1)));
    auto accepted = Deploy();
    EXPECT_TRUE(accepted.ok()) << accepted.status();
    CompileAll();
    LoadAll();
    Settle();
    return accepted->job.id();
  }

  // Workers take what was sent to them and say what they have to say, until nothing is left.
  void Settle() {
    while (!sent.empty()) {
      for (SentToWorker& item : TakeSent()) TakeAtWorker(item);
    }
  }
  // Every batch that waits goes through its map.
  void RunAll() {
    for (auto& [id, worker] : workers) {
      while (!worker->waiting.empty()) RunOne(id);
    }
    Settle();
  }
  void RunOne(uint64_t id) {
    for (auto& [message, payloads] : workers.at(id)->RunOne()) {
      core.OnWorkerMessage(id, message, std::move(payloads));
    }
  }
  void Stop(uint64_t id) {
    v1::WorkerMessage message;
    message.mutable_flow_stopped()->set_job(workers.at(id)->deploy.job());
    message.mutable_flow_stopped()->set_generation(workers.at(id)->deploy.generation());
    core.OnWorkerMessage(id, message, {});
  }
  void FailFlow(uint64_t id, absl::StatusCode code, const std::string& why) {
    v1::WorkerMessage message;
    message.mutable_flow_failed()->set_job(workers.at(id)->deploy.job());
    message.mutable_flow_failed()->set_generation(workers.at(id)->deploy.generation());
    message.mutable_flow_failed()->mutable_failure()->set_code(static_cast<uint32_t>(code));
    message.mutable_flow_failed()->mutable_failure()->set_message(why);
    core.OnWorkerMessage(id, message, {});
  }

  // --- Clients, by the numbers of their attachments.
  absl::StatusOr<uint64_t> Attach(const std::string& job, const std::string& client,
                                  std::optional<uint64_t> in, std::optional<uint64_t> out) {
    v1::FlowAttach request;
    request.set_id(job);
    request.set_client(client);
    const auto add = [](auto* resume, const char* name, uint64_t number) {
      resume->set_name(name);
      resume->set_number(number);
    };
    if (in) add(request.add_inputs(), "in", *in);
    if (out) add(request.add_outputs(), "out", *out);
    return core.flows().Attach(request, [this] { ++news; });
  }
  absl::Status Send(uint64_t client, uint64_t number, int64_t epoch, std::vector<int64_t> values) {
    ToFlow out;
    v1::FlowRecords* records = out.message.mutable_records();
    records->set_port("in");
    records->set_number(number);
    records->set_epoch(epoch);
    Tensor column(DType::kI64, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), column.mutable_data<int64_t>());
    out.tensors = {std::move(column)};
    return core.flows().Take(client, std::move(out));
  }
  absl::Status Advance(uint64_t client, uint64_t number, int64_t epoch, bool closed = false) {
    ToFlow out;
    out.message.mutable_advance()->set_input("in");
    out.message.mutable_advance()->set_number(number);
    out.message.mutable_advance()->set_epoch(epoch);
    out.message.mutable_advance()->set_closed(closed);
    return core.flows().Take(client, std::move(out));
  }
  absl::Status Acknowledge(uint64_t client, uint64_t number) {
    ToFlow out;
    out.message.mutable_ack()->set_output("out");
    out.message.mutable_ack()->set_number(number);
    return core.flows().Take(client, std::move(out));
  }
  // All that there is for the client, in words.
  std::vector<std::string> Heard(uint64_t client) {
    std::vector<std::string> heard;
    while (true) {
      absl::StatusOr<std::optional<FromFlow>> next = core.flows().Next(client);
      if (!next.ok()) heard.push_back(next.status().ToString());
      if (!next.ok() || !next->has_value()) return heard;
      heard.push_back(InWords(**next));
    }
  }

  std::shared_ptr<const Topology> topology;
  std::map<uint64_t, std::unique_ptr<FlowTestWorker>> workers;
  int news = 0;

 private:
  void TakeAtWorker(const SentToWorker& item) {
    if (item.message.has_deploy_flow()) {
      const v1::DeployFlow& deploy = item.message.deploy_flow();
      workers[item.worker] = std::make_unique<FlowTestWorker>(topology, deploy);
      v1::WorkerMessage message;
      message.mutable_flow_deployed()->set_job(deploy.job());
      message.mutable_flow_deployed()->set_generation(deploy.generation());
      return core.OnWorkerMessage(item.worker, message, {});
    }
    const auto worker = workers.find(item.worker);
    if (worker == workers.end()) return;
    worker->second->Take(item);
    const v1::WorkerMessage said = worker->second->Flush();
    if (said.progress().number() > 0) core.OnWorkerMessage(item.worker, said, {});
  }

  // "attached", "in: taken 2, epoch 1", "records 3 of epoch 0: 7@0 8@1", "complete 4: before 1".
  static std::string InWords(const FromFlow& heard) {
    const v1::AttachResponse& message = heard.message;
    if (message.has_attached()) return "attached";
    if (message.has_ended()) return "ended " + v1::Job::State_Name(message.ended().state());
    if (message.has_input()) {
      return StrCat("in: taken ", message.input().taken(), ", epoch ", message.input().epoch(),
                    ", bytes ", message.input().consumed_bytes(), "/",
                    message.input().taken_bytes());
    }
    if (message.has_complete()) {
      const v1::FlowComplete& complete = message.complete();
      return StrCat("complete ", complete.number(), ": ",
                    complete.finished() ? "all" : StrCat("before ", complete.epoch()));
    }
    std::string text = StrCat("records ", message.records().number(), " of epoch ",
                              message.records().epoch(), ":");
    for (int64_t i = 0; i < heard.tensors[0].extent(0); ++i) {
      StrAppend(&text, " ", heard.tensors[0].data<int64_t>()[i], "@",
                heard.tensors[1].data<int64_t>()[i]);
    }
    return text;
  }

  const Limits limits_;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_TEST_HARNESS_H_
