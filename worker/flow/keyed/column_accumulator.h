// The values of one column combined by group, element by element. Owned by a combiner;
// thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_COLUMN_ACCUMULATOR_H_
#define WEIR_WORKER_FLOW_KEYED_COLUMN_ACCUMULATOR_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "common/ops/combine.h"
#include "common/tensor/shape.h"
#include "common/tensor/tensor.h"

namespace weir {

class ColumnAccumulator {
 public:
  virtual ~ColumnAccumulator() = default;

  virtual void Resize(int64_t groups) = 0;
  // groups[i] is the group of row i of the column; weights may be null: 1 for each row.
  virtual void Add(const Tensor& column, absl::Span<const uint32_t> groups,
                   const int64_t* weights) = 0;
  // Row i is that of groups[i], whose weights sum to weights[i].
  virtual Tensor Results(absl::Span<const uint32_t> groups,
                         absl::Span<const int64_t> weights) const = 0;
  // Whether it is as if nothing had been added to the group.
  virtual bool IsInitial(uint32_t group) const = 0;
  virtual int64_t bytes() const = 0;
};

// Of values times weights. Integers wrap in their type; floats are added up in f64, in the order in
// which they come, beginning with the first one. `type`: of a record's value, a real number.
std::unique_ptr<ColumnAccumulator> MakeSumAccumulator(const TensorType& type);
// Such a sum in f64, divided by the sum of weights.
std::unique_ptr<ColumnAccumulator> MakeMeanAccumulator(const TensorType& type);
// Combiner::kMin or kMax, whatever the weights.
std::unique_ptr<ColumnAccumulator> MakeExtremeAccumulator(const TensorType& type,
                                                          Combiner combiner);
// The sum of weights.
std::unique_ptr<ColumnAccumulator> MakeCountAccumulator();

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_COLUMN_ACCUMULATOR_H_
