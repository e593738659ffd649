// Random flows with input for tests, a pure function of the numbers drawn: what runs flows must
// give for them what the oracle gives (reference_flow.h). Some to some thirty vertices of all
// kinds, up to two loops, inside of each other or side by side, all with bounds; one to three
// inputs, several outputs; epochs with many records, few and none, in parts; weights, also below
// zero; floats whose sums depend on their order. Every flow is legal, ends, and runs without an
// error. Used by one thread.
//
//   SeededRandom random(seed);
//   const RandomFlow drawn = DrawFlow(&random);
//   SCOPED_TRACE(drawn.text);
#ifndef WEIR_COMMON_FLOW_RANDOM_FLOW_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_FLOW_TESTING_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/flow/flow_text.h"
#include "common/flow/random_flow_text_testing.h"
#include "common/flow/reference_flow.h"
#include "common/flow/reference_flow_testing.h"

namespace weir {

struct RandomFlowOptions {
  int64_t max_epochs = 6;
  int64_t max_records = 30;  // of one input in one epoch
};

struct RandomFlow {
  std::string text;
  Flow flow;
  FlowInputs inputs;
};

// Keys are few. Floats are large ones that cancel one another, zeros of both signs, and others.
inline double RandomNumber(DType dtype, Random* random) {
  constexpr double kFloats[] = {1e17, -1e17, 1e17, -1e17, 0.0, -0.0, 0.1, -2.3};
  if (dtype == DType::kI64) return static_cast<double>(random->Below(5));
  return random->Chance(0.8) ? kFloats[random->Below(8)] : 10 * random->Unit() - 5;
}

inline RecordBatch RandomRecords(const RandomFlowText::Input& input, int64_t records,
                                 Random* random) {
  std::vector<Numbers> rows(records);
  for (Numbers& row : rows) {
    for (const TensorType& column : input.type) {
      for (int64_t i = 0; i < NumElements(column.shape.extents()); ++i) {
        row.push_back(RandomNumber(column.dtype, random));
      }
    }
  }
  std::vector<int64_t> weights;
  if (input.is_weighted) {
    for (int64_t i = 0; i < records; ++i) {
      const int64_t least = input.is_signed ? -2 : 0;
      weights.push_back(least + static_cast<int64_t>(random->Below(5)));
    }
  }
  return BatchOfNumbers(input.type, rows, weights);
}

// In one to three parts, some of them empty.
inline void AddParts(int64_t epoch, const RecordBatch& batch, Random* random,
                     std::vector<EpochRecords>* parts) {
  int64_t begin = 0;
  for (uint64_t more = random->Below(3); more > 0; --more) {
    const auto end = begin + static_cast<int64_t>(random->Below(batch.size() - begin + 1));
    parts->push_back({epoch, SliceRows(batch, begin, end)});
    begin = end;
  }
  parts->push_back({epoch, SliceRows(batch, begin, batch.size())});
}

inline RandomFlow DrawFlow(Random* random, const RandomFlowOptions& options = {}) {
  RandomFlowText text(random);
  RandomFlow drawn;
  drawn.text = text.Draw();
  drawn.flow = ParseFlow(drawn.text).value();
  const auto epochs = static_cast<int64_t>(1 + random->Below(options.max_epochs));
  for (const RandomFlowText::Input& input : text.inputs()) {
    std::vector<EpochRecords>& parts = drawn.inputs[input.name];
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      if (random->Chance(0.2)) continue;
      const auto records = static_cast<int64_t>(random->Below(options.max_records + 1));
      AddParts(epoch, RandomRecords(input, records, random), random, &parts);
    }
  }
  return drawn;
}

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_FLOW_TESTING_H_
