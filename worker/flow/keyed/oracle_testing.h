// Random records for a vertex under test, and what the oracle says that comes out of it. For tests
// only; stateless.
#ifndef WEIR_WORKER_FLOW_KEYED_ORACLE_TESTING_H_
#define WEIR_WORKER_FLOW_KEYED_ORACLE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/reference/reference_vertex.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/vertex_testing.h"

namespace weir {

enum class RandomWeights { kNone, kPositive, kAny };

struct RandomFrames {
  std::vector<Timestamp> times;
  int64_t records = 40;  // at each time and input, at most
  int64_t values = 4;    // different ones of each column
  RandomWeights weights = RandomWeights::kNone;
};

// One of some values of a type, the awkward ones among them.
template <class T>
T AwkwardValue(uint64_t number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number % 2 == 1;
  } else if constexpr (std::is_integral_v<T>) {
    const T values[] = {T(0), T(1), T(-1), std::numeric_limits<T>::max(), T(7), T(100)};
    return number < 6 ? values[number] : static_cast<T>(number * 0x9e3779b97f4a7c15);
  } else {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float values[] = {0.1f, -0.0f, 0.3f, 1e8f, 0.0f, -1e8f, nan, 3.5f};
    return T(number < 8 ? values[number] : static_cast<float>(number) * 0.7f);
  }
}

inline RecordBatch RandomRecords(const RecordType& type, int64_t records, const RandomFrames& form,
                                 std::mt19937_64& random) {
  RecordBatch batch;
  for (const TensorType& column : type) {
    Extents extents = {records};
    for (const int64_t extent : column.shape.extents()) extents.push_back(extent);
    Tensor values(column.dtype, extents);
    VisitDType(column.dtype, [&]<class T>(TypeTag<T>) {
      for (int64_t i = 0; i < values.num_elements(); ++i) {
        values.mutable_data<T>()[i] = AwkwardValue<T>(random() % form.values);
      }
    });
    batch.columns.push_back(std::move(values));
  }
  batch.origins = Tensor(DType::kI64, {records});
  for (int64_t i = 0; i < records; ++i) {
    batch.origins.mutable_data<int64_t>()[i] = static_cast<int64_t>(random() % (2 * form.records));
  }
  if (form.weights == RandomWeights::kNone) return batch;
  batch.weights = Tensor(DType::kI64, {records});
  for (int64_t i = 0; i < records; ++i) {
    const auto weight = static_cast<int64_t>(random() % 3);
    batch.weights->mutable_data<int64_t>()[i] =
        form.weights == RandomWeights::kPositive ? weight + 1 : weight - 1;
  }
  return batch;
}

// Records for all inputs at all times, cut into frames, some of them empty.
inline std::vector<TestFrame> FramesFor(const FlowVertex& vertex, const RandomFrames& form,
                                        std::mt19937_64& random) {
  std::vector<TestFrame> frames;
  for (size_t input = 0; input < vertex.input_types.size(); ++input) {
    for (const Timestamp& time : form.times) {
      const auto records = static_cast<int64_t>(random() % (form.records + 1));
      const RecordBatch all = RandomRecords(vertex.input_types[input], records, form, random);
      for (int64_t begin = 0; begin <= records;) {
        const int64_t end = std::min<int64_t>(records, begin + static_cast<int64_t>(random() % 12));
        frames.push_back({static_cast<int>(input), time, SliceRows(all, begin, end)});
        if (end == records) break;
        begin = end;
      }
    }
  }
  return frames;
}

using TimedOutputs = std::map<std::pair<int, Timestamp>, RecordBatch>;

// What the oracle sends, by output and time.
inline absl::StatusOr<TimedOutputs> OracleOutputs(const Flow& flow,
                                                  const std::vector<TestFrame>& frames) {
  const FlowVertex& vertex = flow.vertices.back();
  std::unique_ptr<ReferenceVertex> oracle = MakeReferenceGroups(flow, vertex);
  if (oracle == nullptr) oracle = MakeReferenceReduce(flow, vertex);
  if (oracle == nullptr) oracle = MakeReferenceJoin(vertex);
  if (oracle == nullptr) oracle = MakeReferenceVariable(flow, vertex);
  std::map<Timestamp, std::vector<RecordBag>> bags;
  for (const TestFrame& frame : frames) {
    std::vector<RecordBag>& inputs = bags[frame.time];
    inputs.resize(vertex.inputs.size());
    inputs[frame.input].AddAll(BagOf(frame.batch));
  }
  std::map<std::pair<int, Timestamp>, RecordBag> sent;
  for (auto& [time, inputs] : bags) {
    if (std::all_of(inputs.begin(), inputs.end(), [](const auto& bag) { return bag.empty(); })) {
      continue;
    }
    ReferenceStep step{.time = time, .inputs = std::move(inputs)};
    const absl::Status status = oracle->Run(&step);
    if (!status.ok()) return status;
    for (const ReferenceStep::Sent& each : step.sent) {
      sent[{each.output, each.time}].AddAll(each.records);
    }
  }
  TimedOutputs outputs;
  for (const auto& [place, bag] : sent) {
    if (!bag.empty()) outputs[place] = BatchOf(bag, vertex.output_types[place.first]);
  }
  return outputs;
}

// Runs the vertex on the frames, in an order of its own, and compares.
inline void ExpectRunAsTheOracle(const VertexForm& form, const std::vector<TestFrame>& frames,
                                 uint64_t seed, const absl::StatusOr<TimedOutputs>& wanted) {
  VertexRun run(form, seed);
  run.Take(frames);
  ASSERT_EQ(run.status().code(), wanted.status().code())
      << run.status() << "; the oracle: " << wanted.status();
  if (!wanted.ok()) return;
  for (const Timestamp& time : run.Times()) {
    const RecordBatch got = Merged(run.At(0, time));
    const auto want = wanted->find({0, time});
    if (want == wanted->end()) {
      EXPECT_TRUE(got.empty()) << time << ":\n" << ToString(got);
    }
  }
  for (const auto& [place, want] : *wanted) {
    const RecordBatch got = Merged(run.At(place.first, place.second));
    ASSERT_TRUE(SameRecords(got, want)) << "at " << place.second << ":\n"
                                        << ToString(got) << "\ninstead of\n"
                                        << ToString(want);
  }
}

// The same with memory for all of it, and with so little that most of it lies on disk and times are
// cut into parts.
inline void ExpectAsTheOracle(const VertexForm& form, const std::vector<TestFrame>& frames,
                              uint64_t seed) {
  const auto flow = FlowAround(form);
  ASSERT_TRUE(flow.ok()) << flow.status();
  const auto wanted = OracleOutputs(*flow, frames);
  ExpectRunAsTheOracle(form, frames, seed, wanted);
  if (testing::Test::HasFailure()) return;
  SCOPED_TRACE("with little memory");
  constexpr int64_t kLittle = 6'000;  // one time fits, as some functions need it to
  const auto memory = FlowMemory::Make({.budget = kLittle});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const auto share = (*memory)->AddFlow();
  const FlowShare::Scope scope(share.get());
  ExpectRunAsTheOracle(form, frames, seed, wanted);
  EXPECT_EQ(share->kept_bytes(), 0) << "of a vertex that is gone";
  EXPECT_EQ(share->spilled_bytes(), 0);
}

// The same on random frames, for each life of state and way to emit that there is, some seeds each.
inline void CompareLives(VertexForm form, const std::vector<RandomWeights>& all_weights,
                         int seeds) {
  const std::vector<Timestamp> epochs = {{0}, {1}, {2}, {5}};
  const std::vector<Timestamp> trips = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 1}};
  struct Life {
    std::string state;
    std::string emit;
    int loops;
  };
  for (const Life& life : std::vector<Life>{{"time", "updates", 0},
                                            {"time", "updates", 1},
                                            {"job", "updates", 0},
                                            {"job", "changes", 0},
                                            {"job", "changes", 1},
                                            {"loop", "updates", 1},
                                            {"loop", "changes", 1}}) {
    form.attrs["state"] = Attr(life.state);
    form.attrs["emit"] = Attr(life.emit);
    form.loops = life.loops;
    const auto flow = FlowAround(form);
    ASSERT_TRUE(flow.ok()) << flow.status();
    for (const RandomWeights weights : all_weights) {
      for (int seed = 0; seed < seeds; ++seed) {
        std::mt19937_64 random(seed * 1000 + 17);
        const RandomFrames shape = {.times = life.loops == 0 ? epochs : trips,
                                    .records = seed % 2 == 0 ? 40 : 6,
                                    .values = seed % 3 == 0 ? 2 : 8,
                                    .weights = weights};
        SCOPED_TRACE(form.kind + " " + life.state + " " + life.emit + " weights " +
                     std::to_string(static_cast<int>(weights)) + " seed " + std::to_string(seed));
        ExpectAsTheOracle(form, FramesFor(flow->vertices.back(), shape, random), seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_ORACLE_TESTING_H_
