// A vertex under test: a flow is made around it, frames come to it in any order, and it is told of
// complete times as a job would, with every demand of vertex.h on it checked. For tests only;
// thread-compatible.
//
//   VertexRun run({.kind = "map", .inputs = {{"i64[]"}}, .attrs = {{"function", "twice"}},
//                  .functions = "func @twice(...) ..."});
//   run.Take({{0, {3}, MakeBatch({...})}});        // input 0, epoch 3
//   run.At(0, {3});                                // what came out of output 0 in epoch 3
#ifndef WEIR_WORKER_FLOW_VERTEX_TESTING_H_
#define WEIR_WORKER_FLOW_VERTEX_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/vertex_kind.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/timely/outer_time.h"
#include "worker/flow/records_testing.h"
#include "worker/flow/vertex.h"

namespace weir {

struct VertexForm {
  std::string kind;
  std::vector<std::vector<std::string>> inputs;  // the columns of each
  Attrs attrs;
  std::string functions;
  int loops = 0;  // around the inputs
};

struct TestFrame {
  int input = 0;
  Timestamp time;
  RecordBatch batch;
};

// The flow: inputs, brought into as many loops as there are, and then the vertex, the last one.
inline absl::StatusOr<Flow> FlowAround(const VertexForm& form) {
  Flow flow;
  flow.name = "test";
  if (!form.functions.empty()) {
    auto functions = Parse(form.functions, Ops());
    if (!functions.ok()) return functions.status();
    flow.functions = std::make_shared<const Graph>(*std::move(functions));
  }
  const auto loop_name = [](int loop) { return "loop" + std::to_string(loop); };
  const int loops = form.loops + (form.kind == "enter" ? 1 : 0);
  for (int i = 0; i < loops; ++i) flow.loops.push_back({loop_name(i), ScopeId(i)});
  FlowVertex tested = {.name = "tested", .kind = form.kind, .attrs = form.attrs};
  for (size_t i = 0; i < form.inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    flow.vertices.push_back({.name = name, .kind = "input", .attrs = {{"types", form.inputs[i]}}});
    const auto last = [&] { return VertexId(static_cast<int64_t>(flow.vertices.size()) - 1); };
    for (int loop = 0; loop < form.loops; ++loop) {
      flow.vertices.push_back({.name = name + loop_name(loop),
                               .kind = "enter",
                               .inputs = {{last(), 0}},
                               .attrs = {{"loop", loop_name(loop)}}});
    }
    tested.inputs.push_back({last(), 0});
  }
  if (form.kind == "enter") tested.attrs.insert({"loop", Attr(loop_name(form.loops))});
  flow.vertices.push_back(std::move(tested));
  const absl::Status status = CheckFlow(&flow);
  if (!status.ok()) return status;
  return flow;
}

class VertexRun {
 public:
  // Records that one activation may send for a time that is complete.
  static constexpr int64_t kMostRecords = 64 * 1024;
  static constexpr int64_t kMostBytes = 4 << 20;

  explicit VertexRun(const VertexForm& form, uint64_t seed = 1) : random_(seed) {
    auto flow = FlowAround(form);
    EXPECT_TRUE(flow.ok()) << flow.status();
    flow_ = *std::move(flow);
    const VertexId id(static_cast<int64_t>(flow_.vertices.size()) - 1);
    VertexSetup setup = {.flow = &flow_, .id = id};
    for (const FlowAttr& attr : setup.vertex().def->attrs) {
      const Attr* found = setup.vertex().FindAttr(attr.name);
      if (found == nullptr || attr.calls == FlowAttr::Calls::kNothing) continue;
      const auto make = attr.calls == FlowAttr::Calls::kRecord ? MakeReferenceFunction
                                                               : MakeReferenceBatchFunction;
      setup.functions[std::string(attr.name)] = make(flow_.functions, found->AsString());
    }
    auto made = MakeVertex(setup);
    EXPECT_TRUE(made.ok()) << made.status();
    vertex_ = *std::move(made);
  }

  const FlowVertex& form() const { return flow_.vertices.back(); }
  const RecordType& input_type(int input = 0) const { return form().input_types[input]; }
  const RecordType& output_type(int output = 0) const { return form().output_types[output]; }
  Vertex& vertex() { return *vertex_; }
  const absl::Status& status() const { return status_; }
  int64_t dropped() const { return dropped_; }
  int64_t in_vain() const { return in_vain_; }  // records that waited until their time was over
  const std::vector<std::string>& lines() const { return lines_; }
  int continued() const { return continued_; }  // how often a time had more to do

  // Brings all frames, in an order of its own, and tells of each time as soon as no frame can come
  // at it any more, so that both are mixed. More frames may be taken afterwards, at later times.
  void Take(std::vector<TestFrame> frames) {
    std::shuffle(frames.begin(), frames.end(), random_);
    while (status_.ok() && !frames.empty()) {
      TestFrame frame = std::move(frames.back());
      frames.pop_back();
      times_.insert(frame.time);
      VertexActivation activation(frame.time);
      status_ = vertex_->OnFrame(frame.input, std::move(frame.batch), &activation);
      if (status_.ok()) Do(&activation, frame.time);
      while (status_.ok() && NotifyOne(frames)) {
      }
      TellOfOver(frames);
    }
  }

  // All records that output `output` has sent at a time.
  RecordBatch At(int output, const Timestamp& time) const {
    const auto found = sent_.find({output, time});
    if (found == sent_.end()) return EmptyBatch(output_type(output));
    return Canonical(ConcatBatches(found->second, output_type(output)));
  }
  // Times at which output `output` has sent records.
  std::vector<Timestamp> Times(int output = 0) const {
    std::vector<Timestamp> times;
    for (const auto& [place, batches] : sent_) {
      if (place.first == output) times.push_back(place.second);
    }
    return times;
  }

 private:
  void Do(VertexActivation* activation, const Timestamp& time) {
    const PathSummary summary = SummaryOf(form(), flow_.DepthOf(form().scope));
    for (VertexActivation::Sent& sent : activation->sent()) {
      ASSERT_LT(sent.output, static_cast<int>(form().output_types.size()));
      const std::optional<Timestamp> least = summary.Apply(time);
      EXPECT_TRUE(least && LessEqual(*least, sent.time)) << time << " sends at " << sent.time;
      EXPECT_EQ(CheckBatch(sent.batch, output_type(sent.output), "sent"), absl::OkStatus());
      EXPECT_FALSE(sent.batch.empty()) << "a frame for nothing";
      sent_[{sent.output, sent.time}].push_back(std::move(sent.batch));
    }
    for (const VertexActivation::Request& request : activation->requests()) {
      EXPECT_TRUE(LessEqual(time, request.time));
      requests_.insert(request.time);
    }
    dropped_ += activation->dropped();
    for (std::string& line : activation->lines()) lines_.push_back(std::move(line));
  }

  bool IsSequential() const { return vertex_->notify_order() == NotifyOrder::kSequential; }

  bool IsDue(const Timestamp& time, const std::vector<TestFrame>& frames) const {
    for (const TestFrame& frame : frames) {
      if (LessEqual(frame.time, time)) return false;
      if (IsSequential() && frame.time < time) return false;
    }
    return std::none_of(requests_.begin(), requests_.end(), [&](const Timestamp& other) {
      return other != time && (LessEqual(other, time) || (IsSequential() && other < time));
    });
  }

  // Tells of one complete time, any of those that are. Returns: whether there was one.
  bool NotifyOne(const std::vector<TestFrame>& frames) {
    std::vector<Timestamp> due;
    for (const Timestamp& time : requests_) {
      if (IsDue(time, frames)) due.push_back(time);
    }
    if (due.empty()) return false;
    const Timestamp time = due[random_() % due.size()];
    VertexActivation activation(time);
    status_ = vertex_->OnNotify(&activation);
    if (!activation.continues()) requests_.erase(time);
    continued_ += activation.continues() ? 1 : 0;
    if (form().kind != "collect") CheckBounds(activation);  // its frame is the whole time
    if (status_.ok()) Do(&activation, time);
    return true;
  }

  static void CheckBounds(VertexActivation& activation) {
    int64_t records = 0;
    int64_t bytes = 0;
    int64_t largest = 0;
    for (const VertexActivation::Sent& sent : activation.sent()) {
      records += sent.batch.size();
      bytes += sent.batch.bytes();
      if (!sent.batch.empty()) largest = std::max(largest, sent.batch.bytes() / sent.batch.size());
    }
    EXPECT_LE(records, kMostRecords);
    EXPECT_LE(bytes, kMostBytes + largest);
  }

  // Whether a frame or a request may still come at `time` or before; `part_of` gives the part of
  // the other time that counts.
  template <class PartOf>
  bool IsOpen(const Timestamp& time, const std::vector<TestFrame>& frames, PartOf part_of) const {
    const auto before = [&](const Timestamp& other) { return LessEqual(part_of(other), time); };
    return std::any_of(frames.begin(), frames.end(),
                       [&](const TestFrame& frame) { return before(frame.time); }) ||
           std::any_of(requests_.begin(), requests_.end(), before);
  }

  void TellOfOver(const std::vector<TestFrame>& frames) {
    const auto whole = [](const Timestamp& time) { return time; };
    std::erase_if(times_, [&](const Timestamp& time) {
      if (vertex_->keeps_outer_state()) outer_times_.insert(OuterOf(time));
      if (IsOpen(time, frames, whole)) return false;
      if (vertex_->keeps_state()) in_vain_ += vertex_->OnOver(time);
      return true;
    });
    std::erase_if(outer_times_, [&](const Timestamp& time) {
      if (IsOpen(time, frames, OuterOf)) return false;
      vertex_->OnOuterComplete(time);
      return true;
    });
  }

  std::mt19937_64 random_;
  Flow flow_;
  std::unique_ptr<Vertex> vertex_;
  absl::Status status_;
  std::map<std::pair<int, Timestamp>, std::vector<RecordBatch>> sent_;
  std::set<Timestamp> requests_;
  std::set<Timestamp> times_;  // of frames, until they are over
  std::set<Timestamp> outer_times_;
  std::vector<std::string> lines_;
  int64_t dropped_ = 0;
  int64_t in_vain_ = 0;
  int continued_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_VERTEX_TESTING_H_
