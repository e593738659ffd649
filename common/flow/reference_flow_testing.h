// For tests of what runs flows: inputs written as numbers, outputs as one line for each epoch.
// Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_REFERENCE_FLOW_TESTING_H_
#define WEIR_COMMON_FLOW_REFERENCE_FLOW_TESTING_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/ops/combine.h"

namespace weir {

// One record: all elements of all columns, one after the other.
using Numbers = std::vector<double>;

// REQUIRES: the type is of real numbers and bools.
template <class T>
T ElementOfNumber(double number) {
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(number));
  } else {
    return static_cast<T>(number);
  }
}

// A batch of this type with origins 0, 1, ... `weights` may be empty: 1 for each.
inline RecordBatch BatchOfNumbers(const RecordType& type, const std::vector<Numbers>& records,
                                  const std::vector<int64_t>& weights = {}) {
  const auto rows = static_cast<int64_t>(records.size());
  std::vector<Tensor> columns;
  int64_t first = 0;  // element of the record
  for (const TensorType& column : type) {
    Extents extents = column.shape.extents();
    const int64_t elements = NumElements(extents);
    extents.insert(extents.begin(), rows);
    Tensor tensor(column.dtype, extents);
    VisitDType(column.dtype, [&]<class T>(TypeTag<T>) {
      T* out = tensor.mutable_data<T>();
      for (const Numbers& record : records) {
        for (int64_t i = 0; i < elements; ++i) *out++ = ElementOfNumber<T>(record[first + i]);
      }
    });
    first += elements;
    columns.push_back(std::move(tensor));
  }
  RecordBatch batch = MakeBatch(std::move(columns));
  if (!weights.empty()) batch.weights = Tensor::FromSpan<int64_t>({rows}, weights);
  return batch;
}

// Returns: a line for each output vertex and epoch, `out 0: (1 2.5) (3 4)@1*-2`, in which @ stands
// before an origin that is not 0 and * before a weight that is not 1.
inline std::string Brief(const FlowOutputs& outputs) {
  std::string text;
  for (const auto& [name, epochs] : outputs) {
    for (const auto& [epoch, batch] : epochs) {
      StrAppend(&text, text.empty() ? "" : "\n", name, " ", epoch, ":");
      for (int64_t row = 0; row < batch.size(); ++row) {
        std::string record;
        for (const Tensor& column : batch.columns) {
          const std::string one = PrintTensor(column.Row(row));  // f32[2] {1, 2}
          const size_t open = one.find('{');
          StrAppend(&record, record.empty() ? "" : " ",
                    one.substr(open + 1, one.size() - open - 2));
        }
        StrAppend(&text, " (", record, ")");
        if (batch.origin(row) != 0) StrAppend(&text, "@", batch.origin(row));
        if (batch.weight(row) != 1) StrAppend(&text, "*", batch.weight(row));
      }
    }
  }
  return text;
}

// What comes in one epoch.
struct EpochNumbers {
  std::vector<Numbers> records;
  std::vector<int64_t> weights = {};  // empty: 1 for each
};

// Runs a flow in text form through the oracle, with what comes into each input vertex in epochs 0,
// 1, ... Returns: Brief of what comes out, or the message of the error.
inline std::string RunNumbers(std::string_view text,
                              const std::map<std::string, std::vector<EpochNumbers>>& inputs,
                              const ReferenceFlowOptions& options = {}) {
  const auto flow = ParseFlow(text);
  if (!flow.ok()) return std::string(flow.status().message());
  FlowInputs records;
  for (const auto& [name, epochs] : inputs) {
    const RecordType& type = flow->vertex(flow->FindVertex(name)).output_types[0];
    for (size_t e = 0; e < epochs.size(); ++e) {
      records[name].push_back(
          {static_cast<int64_t>(e), BatchOfNumbers(type, epochs[e].records, epochs[e].weights)});
    }
  }
  const auto result = RunReferenceFlow(*flow, records, options);
  return result.ok() ? Brief(result->outputs) : std::string(result.status().message());
}

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_REFERENCE_FLOW_TESTING_H_
