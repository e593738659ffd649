#include "server/compiler/factored/factored.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "server/compiler/factored/contract.h"
#include "server/compiler/factored/live.h"
#include "server/compiler/factored/recognize.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace factored {
namespace {

// Smaller values are not worth a kernel more.
constexpr double kFewestElements = 256;

// A reduction that could contract operands instead.
struct Candidate {
  NodeId node;
  Factored value;     // the sum
  double summed = 0;  // elements of what it sums
};

// A loop over iterations one after the other must sum as one over all of them at once does.
bool IsInLoop(const Graph& graph, RegionId region) {
  for (NodeId id = graph.region(region).parent; id.valid();
       id = graph.region(graph.node(id).parent).parent) {
    const std::string& op = graph.node(id).op;
    if (op == "pfor" || op == "for") return true;
  }
  return false;
}

bool HasFewOperands(const Factored& value) {
  return std::all_of(value.terms.begin(), value.terms.end(), [](const Term& term) {
    return Folded(term.operands).size() <= kMostOperands;
  });
}

std::vector<ValueId> ReadsOf(const Factored& value) {
  std::vector<ValueId> reads;
  for (const Term& term : value.terms) {
    for (const Operand& operand : term.operands) {
      reads.insert(reads.end(), operand.reads.begin(), operand.reads.end());
    }
  }
  return reads;
}

// What a loop would have to keep of each iteration in place of the product.
double ElementsToKeep(const Factored& value) {
  double elements = 0;
  for (const Term& term : value.terms) {
    for (const Operand& operand : term.operands) {
      if (!operand.is_row) elements += Elements(operand.axes);
    }
  }
  return elements;
}

class Finder {
 public:
  explicit Finder(Graph* graph) : graph_(graph), recognizer_(graph) {}

  // Returns: the reductions to replace.
  Replacements Run() {
    for (const Function& function : graph_->functions()) Visit(function.body);
    Replacements accepted;
    for (const Candidate& c : candidates_) accepted.emplace(c.node, ReadsOf(c.value));
    // Each that goes may need what others count on to be gone.
    for (size_t before = 0; before != accepted.size() && !accepted.empty();) {
      before = accepted.size();
      const Live live(*graph_, accepted);
      for (const Candidate& c : candidates_) {
        if (!Pays(c, live)) accepted.erase(c.node);
      }
    }
    return accepted;
  }

 private:
  void Visit(RegionId region) {
    for (NodeId id : graph_->region(region).nodes) {
      const Node& node = graph_->node(id);
      for (RegionId inner : node.regions) Visit(inner);
      if (node.op == "reduce_sum") Consider(id);
    }
  }

  void Consider(NodeId id) {
    const Node& node = graph_->node(id);
    const TensorType& type = graph_->type(node.inputs[0]);
    if (type.dtype != DType::kF32 && type.dtype != DType::kF64) return;
    std::optional<Factored> sum = recognizer_.FindSum(node);
    if (!sum || !HasFewOperands(*sum)) return;
    const bool over_iterations = !HasAll(sum->axes, sum->lifted);
    const bool in_loop = !sum->lifted.empty() || IsInLoop(*graph_, node.parent);
    if (!over_iterations && !(sum->is_product && in_loop)) return;
    const Factored whole = *recognizer_.Find(node.inputs[0]);
    const double elements = Elements(whole.axes);
    if (elements < kFewestElements || elements <= Elements(sum->axes)) return;
    candidates_.push_back({id, *std::move(sum), elements});
  }

  static bool Pays(const Candidate& c, const Live& live) {
    for (ValueId stacked : c.value.stacked) {
      if (live.Contains(stacked)) return false;
    }
    if (!c.value.stacked.empty() && ElementsToKeep(c.value) > c.summed) return false;
    if (!c.value.is_product) return true;
    double cost = c.summed;
    for (const Factored::Source& product : c.value.products) {
      if (!live.Contains(product.value)) cost += product.cost;
    }
    return CostOf(c.value) <= cost;
  }

  Graph* graph_;
  Recognizer recognizer_;
  std::vector<Candidate> candidates_;
};

std::string NoteOf(const Graph& graph, NodeId id) {
  return StrCat(graph.Describe(id), ": contracts the operands of ",
                graph.type(graph.node(id).inputs[0]).ToString(), ", which is not made");
}

}  // namespace
}  // namespace factored

absl::Status KeepFactored(Graph* graph, const CompileOptions& options, CompileReport* report) {
  if (options.sums == CompileOptions::Sums::kAsWritten) return absl::OkStatus();
  const factored::Replacements accepted = factored::Finder(graph).Run();
  if (accepted.empty()) return absl::OkStatus();
  WEIR_RETURN_IF_ERROR(
      RewriteNodes(graph, [&](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
        if (!accepted.contains(id)) return std::nullopt;
        const Node node = graph->node(id);
        const std::optional<factored::Factored> sum = factored::Recognizer(graph).FindSum(node);
        if (!sum) return std::nullopt;
        report->notes.push_back(factored::NoteOf(*graph, id));
        return std::vector<ValueId>{factored::Contracted(builder, *sum)};
      }));
  return EliminateDeadCode(graph, options, report);
}

}  // namespace weir
