// reduce_by_key and count: each result is worked out anew from all records that the key ever had.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/reference/reference_vertex.h"
#include "common/ops/combine.h"
#include "common/ops/reduce/accumulator.h"

namespace weir {
namespace {

// The values of one record and how often they came.
struct Weighted {
  RecordBytes values;
  int64_t weight = 0;
};
// In the order of times, then in order.
using History = std::vector<Weighted>;

int64_t CountOf(const History& history) {
  int64_t sum = 0;
  for (const Weighted& one : history) sum = scalar::Add(sum, one.weight);
  return sum;
}

template <class T>
T ElementOf(const std::string& bytes, size_t i) {
  T value;
  std::copy_n(bytes.data() + i * sizeof(T), sizeof(T), reinterpret_cast<char*>(&value));
  return value;
}

template <class T>
void Append(T value, std::string* bytes) {
  if constexpr (kIsHalf<T>) {
    if (std::isnan(static_cast<float>(value))) value = T(std::numeric_limits<float>::quiet_NaN());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  }
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
inline constexpr bool kIsFloat = kIsHalf<T> || std::is_floating_point_v<T>;

// Element i of column c, times the weight, added up in f64, in order.
template <class T>
double FloatSum(const History& history, size_t c, size_t i) {
  double sum = 0;
  for (size_t r = 0; r < history.size(); ++r) {
    const T value = ElementOf<T>(history[r].values[c], i);
    double term;
    if constexpr (kIsHalf<T>) {
      term = static_cast<float>(value);
    } else {
      term = static_cast<double>(value);
    }
    term *= static_cast<double>(history[r].weight);
    sum = r == 0 ? term : sum + term;
  }
  return sum;
}

template <class T>
std::string Sum(const History& history, size_t c, size_t elements) {
  std::string bytes;
  for (size_t i = 0; i < elements; ++i) {
    if constexpr (kIsFloat<T>) {
      Append(FromAccumulator<T>(FloatSum<T>(history, c, i)), &bytes);
    } else {
      T sum = 0;
      for (const Weighted& one : history) {
        const T value = ElementOf<T>(one.values[c], i);
        sum = scalar::Add(sum, scalar::Multiply(value, static_cast<T>(one.weight)));
      }
      Append(sum, &bytes);
    }
  }
  return bytes;
}

// f16 and bf16 have a mean in f64, as integers do.
template <class T>
std::string Mean(const History& history, size_t c, size_t elements) {
  using Result = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const auto count = static_cast<double>(CountOf(history));
  std::string bytes;
  for (size_t i = 0; i < elements; ++i) {
    Append(static_cast<Result>(FloatSum<T>(history, c, i) / count), &bytes);
  }
  return bytes;
}

template <Combiner combiner, class T>
std::string Extremum(const History& present, size_t c, size_t elements) {
  std::string bytes;
  for (size_t i = 0; i < elements; ++i) {
    T best = ElementOf<T>(present[0].values[c], i);
    for (const Weighted& one : present) {
      best = CombineStored<combiner, T>(best, ElementOf<T>(one.values[c], i));
    }
    Append(best, &bytes);
  }
  return bytes;
}

// One for each row of values, with the sum of its weights, if that is above 0.
History PresentOf(const History& history) {
  std::map<RecordBytes, int64_t> sums;
  for (const Weighted& one : history) {
    int64_t& sum = sums[one.values];
    sum = scalar::Add(sum, one.weight);
  }
  History present;
  for (const auto& [values, weight] : sums) {
    if (weight > 0) present.push_back({values, weight});
  }
  return present;
}

class ReferenceReduce : public ReferenceVertex {
 public:
  ReferenceReduce(const Flow& flow, const FlowVertex& vertex)
      : vertex_(vertex),
        keys_(vertex.attr("keys").AsInt()),
        types_(vertex.input_types[0].begin() + keys_, vertex.input_types[0].end()),
        combine_(vertex.kind == "count" ? "count" : vertex.StringOr("combine", "")),
        states_(vertex) {
    if (!combine_.empty()) return;
    function_ = MakeReferenceFunction(flow.functions, vertex.attr("function").AsString());
  }

  absl::Status Run(ReferenceStep* step) override {
    WEIR_RETURN_IF_ERROR(CheckWeights(vertex_, step->inputs[0]));
    std::map<RecordBytes, Group>& groups = states_.At(step->time);
    std::map<RecordBytes, int64_t> touched;  // with the least origin
    for (const auto& [key, weight] : step->inputs[0]) {
      const RecordBytes group = FirstColumns(key.record, keys_);
      groups[group].history.push_back({WithoutFirst(key.record, keys_), weight});
      touched.emplace(group, key.origin);
    }
    RecordBag out;
    for (const auto& [key, origin] : touched) {
      Group& group = groups[key];
      WEIR_ASSIGN_OR_RETURN(std::optional<RecordBytes> result, ResultOf(group.history));
      if (result == group.result) continue;
      const bool takes_back = EmitOf(vertex_) == Emit::kChanges && group.result.has_value();
      if (takes_back) out.Add(group.origin, Joined(key, *group.result), -1);
      if (result) out.Add(origin, Joined(key, *result), 1);
      group.result = std::move(result);
      group.origin = origin;
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  struct Group {
    History history;
    std::optional<RecordBytes> result;  // that came out last
    int64_t origin = 0;                 // with which
  };

  // Returns: nothing if the key is not there.
  absl::StatusOr<std::optional<RecordBytes>> ResultOf(const History& history) const {
    if (function_ != nullptr) return Fold(history);
    const bool extremum = combine_ == "min" || combine_ == "max";
    const History present = extremum ? PresentOf(history) : History();
    if (extremum ? present.empty() : CountOf(history) == 0) return std::nullopt;
    if (combine_ == "count") {
      std::string bytes;
      Append(CountOf(history), &bytes);
      return RecordBytes{bytes};
    }
    RecordBytes result;
    for (size_t c = 0; c < types_.size(); ++c) {
      result.push_back(VisitDType(types_[c].dtype, [&]<class T>(TypeTag<T>) {
        return Column<T>(extremum ? present : history, c);
      }));
    }
    return result;
  }

  template <class T>
  std::string Column(const History& history, size_t c) const {
    const auto elements = static_cast<size_t>(NumElements(types_[c].shape.extents()));
    if constexpr (std::is_same_v<T, bool> || kIsComplex<T>) {
      return "";  // the type rules let no such values be combined
    } else {
      if (combine_ == "sum") return Sum<T>(history, c, elements);
      if (combine_ == "mean") return Mean<T>(history, c, elements);
      if (combine_ == "min") return Extremum<Combiner::kMin, T>(history, c, elements);
      return Extremum<Combiner::kMax, T>(history, c, elements);
    }
  }

  absl::StatusOr<std::optional<RecordBytes>> Fold(const History& history) const {
    std::optional<RecordBytes> folded;
    for (const Weighted& one : history) {
      if (one.weight < 0 || one.weight > kMaxRepeats) {
        return InvalidArgument("a record has the weight ", one.weight,
                               "; a function combines a record 0 to ", kMaxRepeats, " times");
      }
      for (int64_t i = 0; i < one.weight; ++i) {
        if (!folded) {
          folded = one.values;
          continue;
        }
        RecordType both = types_;
        both.insert(both.end(), types_.begin(), types_.end());
        WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                              function_->Call(ColumnsOf({Joined(*folded, one.values)}, both), 1));
        folded = RecordOf(results, 0);
      }
    }
    return folded;
  }

  const FlowVertex& vertex_;
  const int64_t keys_;
  const RecordType types_;     // of the values
  const std::string combine_;  // empty: by the function
  std::unique_ptr<RecordFunction> function_;
  ReferenceStates<std::map<RecordBytes, Group>> states_;
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceReduce(const Flow& flow, const FlowVertex& vertex) {
  const bool reduces = vertex.kind == "reduce_by_key" || vertex.kind == "count";
  return reduces ? std::make_unique<ReferenceReduce>(flow, vertex) : nullptr;
}

}  // namespace weir
