#include "common/ops/combine.h"

namespace weir {
namespace {

constexpr std::string_view kNames[] = {"set", "add", "mul", "min", "max", "and", "or"};

}  // namespace

std::optional<Combiner> ParseCombiner(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Combiner>(i);
  }
  return std::nullopt;
}

std::string_view CombinerName(Combiner combiner) { return kNames[static_cast<size_t>(combiner)]; }

bool IsDefined(Combiner combiner, DType dtype) {
  switch (combiner) {
    case Combiner::kSet:
    case Combiner::kAdd:
    case Combiner::kMul:
      return true;
    case Combiner::kMin:
    case Combiner::kMax:
      return !IsComplex(dtype);
    case Combiner::kAnd:
    case Combiner::kOr:
      return dtype == DType::kBool || IsInteger(dtype);
  }
  return false;
}

}  // namespace weir
