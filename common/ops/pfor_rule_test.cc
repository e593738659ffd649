// Every pfor rule against a loop over the iterations, for every sample of every op, every choice
// of varying operands and several extents.
#include "common/ops/pfor_rule.h"

#include <set>

#include "common/ops/op_testing.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

// Which operands of one node vary; at most one of them is the loop variable.
struct Choice {
  std::vector<bool> varies;
  int loop_variable = -1;

  std::string ToString() const {
    std::string out;
    for (size_t i = 0; i < varies.size(); ++i) {
      out += static_cast<int>(i) == loop_variable ? 'i' : varies[i] ? 'v' : '-';
    }
    return out;
  }
};

class OneVariance : public VarianceContext {
 public:
  OneVariance(const Graph& graph, const Node& node, const Choice& choice)
      : graph_(graph), node_(node) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (choice.varies[i]) MarkVarying(node.inputs[i]);
    }
    if (const VarianceFn rule = FindOp(node.op)->variance; rule != nullptr) {
      rule(*this);
    } else {
      for (ValueId output : node.outputs) MarkVarying(output);
    }
  }
  const Graph& graph() const override { return graph_; }
  const Node& node() const override { return node_; }
  bool varies(ValueId value) const override { return varying_.count(value) > 0; }
  void MarkVarying(ValueId value) override { varying_.insert(value); }
  void AnalyzeRegion(RegionId) override {}

 private:
  const Graph& graph_;
  const Node& node_;
  std::set<ValueId> varying_;
};

// Converts a graph of one node; the parameters of the result are the converted operands and, last,
// the iteration indices.
class OneRewrite : public PforRewrite {
 public:
  OneRewrite(const Graph& source, const Choice& choice, int64_t extent)
      : source_(source),
        node_(source.node(source.region(source.entry().body).nodes[0])),
        choice_(choice),
        variance_(source_, node_, choice),
        extent_(extent),
        symbol_(choice.loop_variable >= 0 ? Dim(extent) : Dim::Symbol("iterations")),
        builder_(&target_, target_.AddFunction("main").body, &Ops()) {
    for (int i = 0; i < num_inputs(); ++i) {
      TensorType type = input_type(i);
      if (input_varies(i)) type.shape.dims().insert(type.shape.dims().begin(), symbol_);
      operands_.push_back(builder_.AddArg(std::move(type)));
    }
    indices_ = builder_.AddArg({DType::kI64, Shape({symbol_})});
  }

  const Graph& source() const override { return source_; }
  const Node& node() const override { return node_; }
  bool varies(ValueId value) const override { return variance_.varies(value); }
  Dim extent() const override { return symbol_; }
  Builder& build() override { return builder_; }
  ValueId operand(int i) override { return operands_[i]; }
  ValueId converted(ValueId value) override {
    for (int i = 0; i < num_inputs(); ++i) {
      if (node_.inputs[i] == value) return operands_[i];
    }
    return ValueId();
  }
  ValueId iteration_indices() override { return indices_; }
  bool is_iteration_index(int i) const override { return i == choice_.loop_variable; }
  ValueId IterationRows(int i) override {
    const Shape& shape = input_type(i).shape;
    if (shape.rank() == 0 || shape[0] != Dim(extent_)) return ValueId();
    used_rows_ = true;
    return operands_[i];
  }
  void Return(std::vector<ValueId> outputs) override { builder_.Yield(std::move(outputs)); }
  void Bind(ValueId, ValueId) override {}
  absl::StatusOr<std::vector<ValueId>> ConvertRegion(RegionId, Builder) override {
    return absl::UnimplementedError("no regions here");
  }
  absl::StatusOr<std::vector<ValueId>> ConvertPart(RegionId, Builder, const Dim&,
                                                   absl::Span<const PartRows>) override {
    return absl::UnimplementedError("no regions here");
  }
  std::string FreshSymbol(std::string_view stem) override { return std::string(stem); }

  bool used_rows() const { return used_rows_; }
  // Returns: an error where a result has another type than its stacked or invariant form.
  absl::Status CheckResults() const {
    WEIR_RETURN_IF_ERROR(builder_.status());
    const std::vector<ValueId>& results = target_.region(target_.entry().body).results;
    if (results.size() != node_.outputs.size()) return absl::InternalError("number of results");
    for (size_t i = 0; i < results.size(); ++i) {
      TensorType wanted = source_.type(node_.outputs[i]);
      if (varies(node_.outputs[i])) {
        wanted.shape.dims().insert(wanted.shape.dims().begin(), symbol_);
      }
      if (target_.type(results[i]) == wanted) continue;
      return absl::InternalError(StrCat("result ", i, " is ", target_.type(results[i]).ToString(),
                                        ", not ", wanted.ToString()));
    }
    return absl::OkStatus();
  }
  const Graph& target() const { return target_; }

 private:
  const Graph& source_;
  const Node node_;
  const Choice choice_;
  const OneVariance variance_;
  const int64_t extent_;
  const Dim symbol_;
  Graph target_;
  Builder builder_;
  std::vector<ValueId> operands_;
  ValueId indices_;
  bool used_rows_ = false;
};

Tensor OperandAt(const Sample& sample, const Choice& choice, size_t i, int64_t iteration) {
  if (static_cast<int>(i) == choice.loop_variable) return Tensor::Scalar<int64_t>(iteration);
  return sample.operands[i].Make(100 + i + (choice.varies[i] ? 7919 * (1 + iteration) : 0));
}

// The operands of the converted node.
std::vector<Tensor> StackedOperands(const Sample& sample, const Choice& choice, int64_t extent) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    const Tensor first = OperandAt(sample, choice, i, 0);
    std::vector<Tensor> rows;
    for (int64_t k = 0; k < extent; ++k) rows.push_back(OperandAt(sample, choice, i, k));
    operands.push_back(choice.varies[i] ? Stack(first.dtype(), first.extents(), rows) : first);
  }
  Tensor indices(DType::kI64, {extent});
  for (int64_t k = 0; k < extent; ++k) indices.mutable_data<int64_t>()[k] = k;
  operands.push_back(indices);
  return operands;
}

struct Counts {
  int compared = 0;
  int rows = 0;  // conversions that took the rows of an operand as they are
};

void ExpectLoopResult(const OneRewrite& rewrite, const Sample& sample, const Choice& choice,
                      int64_t extent, const Graph& source, const std::string& what) {
  absl::StatusOr<std::vector<Tensor>> found =
      RunStraight(rewrite.target(), StackedOperands(sample, choice, extent));
  ASSERT_TRUE(found.ok()) << what << ": " << found.status();
  const Node& node = rewrite.node();
  for (size_t output = 0; output < node.outputs.size(); ++output) {
    std::vector<Tensor> rows;
    for (int64_t k = 0; k < extent; ++k) {
      std::vector<Tensor> operands;
      for (size_t i = 0; i < sample.operands.size(); ++i) {
        operands.push_back(OperandAt(sample, choice, i, k));
      }
      absl::StatusOr<std::vector<Tensor>> row = RunStraight(source, operands);
      ASSERT_TRUE(row.ok()) << what << ": " << row.status();
      rows.push_back((*row)[output]);
    }
    const TensorType& type = source.type(node.outputs[output]);
    const Tensor expected = Stack(type.dtype, type.shape.extents(), rows);
    const Tensor& tensor = (*found)[output];
    if (rewrite.varies(node.outputs[output])) {
      EXPECT_TRUE(tensor.BitEquals(expected))
          << what << ": found " << tensor.ToString() << "\nexpected " << expected.ToString();
    } else if (extent > 0) {
      EXPECT_TRUE(tensor.BitEquals(rows[0])) << what << ": found " << tensor.ToString();
    }
  }
}

void CheckConversion(const OpDef& op, const Sample& sample, const Choice& choice, int64_t extent,
                     Counts* counts) {
  const std::string what =
      StrCat(op.name, " \"", sample.label, "\" varying ", choice.ToString(), ", extent ", extent);
  std::vector<TensorType> types;
  for (const SampleOperand& operand : sample.operands) {
    types.push_back({operand.dtype, Shape::FromExtents(operand.extents)});
  }
  const absl::StatusOr<Graph> source = OneNode(std::string(op.name), types, sample.attrs);
  ASSERT_TRUE(source.ok()) << what << ": " << source.status();
  OneRewrite rewrite(*source, choice, extent);
  const absl::Status status = op.pfor(rewrite);
  if (status.code() == absl::StatusCode::kUnimplemented) return;
  ASSERT_TRUE(status.ok()) << what << ": " << status;
  const absl::Status types_fit = rewrite.CheckResults();
  ASSERT_TRUE(types_fit.ok()) << what << ": " << types_fit;
  ExpectLoopResult(rewrite, sample, choice, extent, *source, what);
  ++counts->compared;
  if (rewrite.used_rows()) ++counts->rows;
}

// All choices of varying operands; of many operands only each alone and all together.
std::vector<Choice> ChoicesOf(const Sample& sample) {
  const size_t n = sample.operands.size();
  std::vector<Choice> choices;
  for (size_t bits = 1; bits < size_t{1} << n; ++bits) {
    const bool one = (bits & (bits - 1)) == 0;
    if (n > 4 && !one && bits + 1 != size_t{1} << n) continue;
    Choice choice;
    bool allowed = true;
    for (size_t i = 0; i < n; ++i) {
      choice.varies.push_back((bits >> i & 1) != 0);
      allowed = allowed && (!choice.varies[i] || sample.operands[i].may_vary);
    }
    if (allowed) choices.push_back(std::move(choice));
  }
  return choices;
}

bool CouldBeLoopVariable(const SampleOperand& operand) {
  return operand.may_vary && operand.dtype == DType::kI64 && operand.extents.empty();
}

bool IsCovered(const OpDef& op) {
  return op.pfor != nullptr && op.regions.max == 0 && op.effect == Effect::kPure;
}

TEST(PforRuleTest, AgreesWithTheLoop) {
  Counts counts;
  for (const OpDef& op : AllOps()) {
    if (!IsCovered(op)) continue;
    for (const Sample& sample : op.samples()) {
      if (!sample.program.empty()) continue;
      for (const Choice& choice : ChoicesOf(sample)) {
        for (int64_t extent : {0, 1, 3}) CheckConversion(op, sample, choice, extent, &counts);
      }
    }
  }
  EXPECT_GT(counts.compared, 1000);
}

// One operand is the loop variable itself, over as many iterations as the first operand has rows.
TEST(PforRuleTest, AgreesWithTheLoopOverItsVariable) {
  Counts counts;
  for (const OpDef& op : AllOps()) {
    if (!IsCovered(op)) continue;
    for (const Sample& sample : op.samples()) {
      if (!sample.program.empty()) continue;
      for (Choice choice : ChoicesOf(sample)) {
        const int64_t rows = sample.operands[0].extents.empty() ? 3 : sample.operands[0].extents[0];
        for (size_t i = 0; i < sample.operands.size(); ++i) {
          if (!choice.varies[i] || !CouldBeLoopVariable(sample.operands[i])) continue;
          choice.loop_variable = static_cast<int>(i);
          CheckConversion(op, sample, choice, rows, &counts);
          CheckConversion(op, sample, choice, rows + 1, &counts);
        }
      }
    }
  }
  EXPECT_GT(counts.rows, 2) << "no rule took the rows of its operand as they are";
}

}  // namespace
}  // namespace weir
