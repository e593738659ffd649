// What random programs are made of: ops with attributes and operands that fit, from the samples of
// the ops. Immutable; usable from any thread.
#ifndef WEIR_TESTS_PROGRAMS_TEMPLATES_H_
#define WEIR_TESTS_PROGRAMS_TEMPLATES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/ops/op_def.h"
#include "common/ops/sample.h"

namespace weir {

// An op with attributes and operands that fit it.
struct Template {
  const OpDef* op;
  Sample sample;
};

// Of all ops that only compute and have no regions.
const std::vector<Template>& Templates();

// The templates of an op by their attributes.
using Variants = std::vector<std::vector<const Template*>>;

// Of all ops, each once: an op is drawn, then a variant, then a template of it, so that neither ops
// with many samples nor attributes that many samples share are seen more often.
const std::vector<Variants>& Choices();

// How many subsets of the operands may be those that vary.
int64_t Patterns(const Template* t);
// Of that with the most.
template <class T>
int64_t Patterns(const std::vector<T>& list) {
  int64_t most = 0;
  for (const T& item : list) most = std::max(most, Patterns(item));
  return most;
}

}  // namespace weir

#endif  // WEIR_TESTS_PROGRAMS_TEMPLATES_H_
