#include "tests/programs/templates.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "common/ops/registry.h"
#include "common/tensor/tensor.h"

namespace weir {
namespace {

constexpr int64_t kMaxElements = 64;    // of one operand
constexpr int64_t kMostElements = 512;  // where no smaller sample has the attributes

bool HasAtMost(int64_t elements, const Sample& sample) {
  return std::all_of(sample.operands.begin(), sample.operands.end(),
                     [&](const auto& operand) { return NumElements(operand.extents) <= elements; });
}

void AddTemplates(const OpDef& op, std::vector<Template>* list) {
  const size_t first = list->size();
  for (int64_t elements : {kMaxElements, kMostElements}) {
    const size_t smaller = list->size();
    for (const Sample& sample : op.samples()) {
      if (!sample.program.empty() || !HasAtMost(elements, sample)) continue;
      const bool known =
          std::any_of(list->begin() + first, list->begin() + smaller,
                      [&](const Template& t) { return t.sample.attrs == sample.attrs; });
      if (!known) list->push_back({&op, sample});
    }
  }
}

}  // namespace

const std::vector<Template>& Templates() {
  static const auto* const templates = [] {
    auto* list = new std::vector<Template>;
    for (const OpDef& op : AllOps()) {
      if (op.effect == Effect::kPure && op.regions.max == 0) AddTemplates(op, list);
    }
    return list;
  }();
  return *templates;
}

const std::vector<Variants>& Choices() {
  static const auto* const choices = [] {
    std::map<std::string_view, Variants> by_op;
    for (const Template& t : Templates()) {
      Variants& variants = by_op[t.op->name];
      auto variant = std::find_if(variants.begin(), variants.end(), [&](const auto& list) {
        return list[0]->sample.attrs == t.sample.attrs;
      });
      if (variant == variants.end()) variant = variants.emplace(variant);
      variant->push_back(&t);
    }
    auto* list = new std::vector<Variants>;
    for (auto& [name, variants] : by_op) list->push_back(std::move(variants));
    return list;
  }();
  return *choices;
}

int64_t Patterns(const Template* t) {
  const auto& operands = t->sample.operands;
  return int64_t{1} << std::count_if(operands.begin(), operands.end(),
                                     [](const SampleOperand& operand) { return operand.may_vary; });
}

}  // namespace weir
