// LSTM, GRU and RNN as counted loops of ordinary ops. Source: the equations of the ONNX operators.
//
// The products with the inputs do not depend on the state, so they leave the loop as one large
// product over all steps.
#include <cctype>
#include <functional>

#include "common/base/status.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {
namespace {

using Activation = std::function<ValueId(Builder& b, ValueId x)>;

absl::StatusOr<Activation> MakeActivation(OnnxNode& node, const std::string& given, double alpha,
                                          double beta) {
  std::string name;
  for (const char c : given) name += static_cast<char>(std::tolower(c));
  auto op = [](const char* op) {
    return Activation([op](Builder& b, ValueId x) { return b.Apply(op, {x}); });
  };
  if (name == "sigmoid") return op("logistic");
  if (name == "tanh") return op("tanh");
  if (name == "relu") return op("relu");
  if (name == "softplus") return op("softplus");
  if (name == "affine") {
    return Activation([=](Builder& b, ValueId x) {
      return Binary(b, "add", Binary(b, "multiply", x, alpha), beta);
    });
  }
  if (name == "leakyrelu") {
    return Activation([=](Builder& b, ValueId x) {
      return Where(b, Binary(b, "less", x, 0.0), Binary(b, "multiply", x, alpha), x);
    });
  }
  if (name == "hardsigmoid") {
    return Activation([=](Builder& b, ValueId x) {
      const ValueId line = Binary(b, "add", Binary(b, "multiply", x, alpha), beta);
      return Binary(b, "minimum", Binary(b, "maximum", line, 0.0), 1.0);
    });
  }
  if (name == "scaledtanh") {
    return Activation([=](Builder& b, ValueId x) {
      return Binary(b, "multiply", b.Apply("tanh", {Binary(b, "multiply", x, beta)}), alpha);
    });
  }
  if (name == "softsign") {
    return Activation([=](Builder& b, ValueId x) {
      return Binary(b, "divide", x, Binary(b, "add", b.Apply("abs", {x}), 1.0));
    });
  }
  return node.Unsupported(StrCat("activation '", given, "'"));
}

double DefaultAlpha(const std::string& name) {
  return name == "HardSigmoid" ? 0.2 : name == "LeakyRelu" ? 0.01 : 1.0;
}
double DefaultBeta(const std::string& name) { return name == "HardSigmoid" ? 0.5 : 0.0; }

// What the three operators share, for one direction.
struct Cell {
  OnnxNode& node;
  int gates = 1;
  int direction = 0;
  Dim hidden;
  std::vector<Activation> activations;

  Builder& b() const { return node.b(); }
  // Slice `direction` of a [directions, ...] operand.
  ValueId Of(int operand) const {
    return Squeeze(b(), Slice(b(), node.input(operand), 0, Dim(direction), Dim(direction + 1)),
                   {0});
  }
  // Gate `k` of [..., gates * hidden].
  ValueId Gate(Builder& at, ValueId x, int k) const {
    const int last = at.type(x).rank() - 1;
    return Slice(at, x, last, hidden * k, hidden * (k + 1));
  }
  ValueId Clip(Builder& at, ValueId x) const {
    if (node.FindAttr("clip") == nullptr) return x;
    const double limit = node.Float("clip", 0);
    return Binary(at, "minimum", Binary(at, "maximum", x, -limit), limit);
  }
  ValueId Apply(Builder& at, int k, ValueId x) const { return activations[k](at, Clip(at, x)); }
};

using Step = std::function<std::vector<ValueId>(Builder& at, ValueId x_part,
                                                const std::vector<ValueId>& state)>;

struct Sequence {
  ValueId all;                  // [steps, batch, hidden]
  std::vector<ValueId> finals;  // [batch, hidden]
};

// Element [t, k] of the result is element [length[k] - 1 - t, k] of x, or any valid one for t
// beyond the length.
ValueId ReverseWithin(Builder& b, ValueId x, ValueId lengths) {
  const Shape shape = b.type(x).shape;
  const ValueId t = Iota(b, DType::kI64, {shape[0], shape[1]}, 0);
  const ValueId last = Binary(b, "subtract", Cast(b, lengths, DType::kI64), 1.0);
  const ValueId row = Binary(b, "maximum", Binary(b, "subtract", last, t), 0.0);
  const ValueId column = Iota(b, DType::kI64, {shape[0], shape[1]}, 1);
  const ValueId coordinates =
      Concatenate(b, {ExpandDims(b, row, {2}), ExpandDims(b, column, {2})}, 2);
  return b.Apply("gather", {x, coordinates},
                 {{"offset_dims", Int64s{2}},
                  {"collapsed_slice_dims", Int64s{0, 1}},
                  {"operand_batching_dims", Int64s{}},
                  {"start_indices_batching_dims", Int64s{}},
                  {"start_index_map", Int64s{0, 1}},
                  {"index_vector_dim", 2},
                  {"slice_sizes", std::vector<Dim>{1, 1, shape[2]}}});
}

ValueId Reversed(Builder& b, ValueId x, ValueId lengths) {
  if (lengths.valid()) return ReverseWithin(b, x, lengths);
  return b.Apply("reverse", {x}, {{"axes", Int64s{0}}});
}

// Runs `step` over x_part [steps, batch, gates * hidden]; the first state is what each step yields.
Sequence RunLoop(const Cell& cell, ValueId x_part, std::vector<ValueId> state, ValueId lengths,
                 bool backward, const Step& step) {
  Builder& b = cell.b();
  if (backward) x_part = Reversed(b, x_part, lengths);
  const Dim steps = b.type(x_part).shape[0];
  Builder into = b.In(b.NewRegion());
  const ValueId index = into.AddArg({DType::kI64, Shape()}, "step");
  std::vector<ValueId> args;
  for (ValueId value : state) args.push_back(into.AddArg(b.type(value)));
  std::vector<ValueId> next = step(into, TakeRow(into, x_part, index), args);
  ValueId yielded = next[0];
  if (lengths.valid()) {
    // After its end a sequence keeps its state and yields zeros.
    const ValueId running =
        ExpandDims(into, Binary(into, "less", index, Cast(into, lengths, DType::kI64)), {1});
    for (size_t i = 0; i < next.size(); ++i) next[i] = Where(into, running, next[i], args[i]);
    yielded = Where(into, running, yielded, FullLike(into, yielded, 0));
  }
  std::vector<ValueId> results = next;
  results.push_back(yielded);
  into.Yield(results);
  std::vector<ValueId> operands = {DimValue(b, steps)};
  operands.insert(operands.end(), state.begin(), state.end());
  std::vector<ValueId> made =
      b.ApplyAll("for", operands, {{"extent", std::vector<Dim>{steps}}}, {into.region()});
  if (made.empty()) return {};
  Sequence out;
  out.all = made.back();
  made.pop_back();
  out.finals = std::move(made);
  if (!backward) return out;
  out.all = Reversed(b, out.all, lengths);
  if (lengths.valid()) {
    // Reversing brought garbage beyond the ends back in.
    const Shape shape = b.type(out.all).shape;
    const ValueId t = Iota(b, DType::kI64, {shape[0], shape[1]}, 0);
    const ValueId inside = Binary(b, "less", t, Cast(b, lengths, DType::kI64));
    out.all = Where(b, ExpandDims(b, inside, {2}), out.all, FullLike(b, out.all, 0));
  }
  return out;
}

struct Operator {
  int gates = 1;
  int states = 1;  // h, and c for LSTM
  std::vector<std::string> activations;
  // Makes the step of one direction. `r` is R transposed, [hidden, gates * hidden].
  std::function<Step(const Cell& cell, ValueId r)> make_step;
  // The part of the bias that may be added outside of the loop.
  std::function<ValueId(const Cell& cell)> outer_bias;
};

absl::StatusOr<std::vector<Activation>> ActivationsOf(OnnxNode& node, const Operator& op,
                                                      int direction) {
  std::vector<std::string> names = node.Strings("activations");
  const std::vector<double> alphas = node.Floats("activation_alpha");
  const std::vector<double> betas = node.Floats("activation_beta");
  const size_t count = op.activations.size();
  if (names.empty()) {
    for (int d = 0; d < 2; ++d) {
      names.insert(names.end(), op.activations.begin(), op.activations.end());
    }
  }
  if (names.size() < count * (direction + 1)) {
    return InvalidArgument("expected ", count * (direction + 1), " activations, found ",
                           names.size());
  }
  std::vector<Activation> out;
  for (size_t i = count * direction; i < count * (direction + 1); ++i) {
    const double alpha = i < alphas.size() ? alphas[i] : DefaultAlpha(names[i]);
    const double beta = i < betas.size() ? betas[i] : DefaultBeta(names[i]);
    WEIR_ASSIGN_OR_RETURN(Activation activation, MakeActivation(node, names[i], alpha, beta));
    out.push_back(std::move(activation));
  }
  return out;
}

absl::Status Recurrent(OnnxNode& node, const Operator& op) {
  Builder& b = node.b();
  for (int i = 0; i < 3; ++i) {
    if (node.rank(i) != 3) {
      return InvalidArgument("operand ", i, " must have rank 3, found ", node.type(i).ToString());
    }
  }
  const std::string directions = node.String("direction", "forward");
  const int num_directions = directions == "bidirectional" ? 2 : 1;
  const bool batch_first = node.Int("layout", 0) != 0;
  ValueId x = node.input(0);
  if (batch_first) x = Transpose(b, x, {1, 0, 2});
  const Dim batch = b.type(x).shape[1];
  const Dim hidden = node.type(2).shape[2];
  const DType dtype = b.type(x).dtype;
  const ValueId lengths = node.has_input(4) ? node.input(4) : ValueId();
  std::vector<ValueId> all;
  std::vector<std::vector<ValueId>> finals(op.states);
  for (int d = 0; d < num_directions; ++d) {
    Cell cell{node, op.gates, d, hidden, {}};
    WEIR_ASSIGN_OR_RETURN(cell.activations, ActivationsOf(node, op, d));
    ValueId x_part = MatMul(b, x, Transpose(b, cell.Of(1), {1, 0}));
    if (node.has_input(3)) x_part = Binary(b, "add", x_part, op.outer_bias(cell));
    const ValueId r = Transpose(b, cell.Of(2), {1, 0});
    std::vector<ValueId> state;
    for (int s = 0; s < op.states; ++s) {
      ValueId initial = Full(b, dtype, {batch, hidden}, 0);
      if (node.has_input(5 + s)) {
        initial = node.input(5 + s);
        if (batch_first) initial = Transpose(b, initial, {1, 0, 2});
        initial = Squeeze(b, Slice(b, initial, 0, Dim(d), Dim(d + 1)), {0});
      }
      state.push_back(initial);
    }
    WEIR_RETURN_IF_ERROR(b.status());
    const bool backward = directions == "reverse" || d == 1;
    const Sequence sequence =
        RunLoop(cell, x_part, std::move(state), lengths, backward, op.make_step(cell, r));
    WEIR_RETURN_IF_ERROR(b.status());
    all.push_back(ExpandDims(b, sequence.all, {1}));
    for (int s = 0; s < op.states; ++s) finals[s].push_back(ExpandDims(b, sequence.finals[s], {0}));
  }
  const ValueId y = Concatenate(b, std::move(all), 1);
  node.Return(batch_first ? Transpose(b, y, {2, 0, 1, 3}) : y);
  for (int s = 0; s < op.states; ++s) {
    const ValueId final_state = Concatenate(b, std::move(finals[s]), 0);
    node.Return(batch_first ? Transpose(b, final_state, {1, 0, 2}) : final_state);
  }
  return absl::OkStatus();
}

// Both halves of the bias, [gates * hidden].
ValueId SumOfBiases(const Cell& cell) {
  Builder& b = cell.b();
  const ValueId both = cell.Of(3);
  const Dim width = cell.hidden * cell.gates;
  return Binary(b, "add", Slice(b, both, 0, Dim(0), width), Slice(b, both, 0, width, width * 2));
}

}  // namespace

absl::Status TranslateRNN(OnnxNode& node) {
  Operator op;
  op.activations = {"Tanh"};
  op.outer_bias = &SumOfBiases;
  op.make_step = [](const Cell& cell, ValueId r) -> Step {
    return [&cell, r](Builder& at, ValueId x_part, const std::vector<ValueId>& state) {
      const ValueId sum = Binary(at, "add", x_part, MatMul(at, state[0], r));
      return std::vector<ValueId>{cell.Apply(at, 0, sum)};
    };
  };
  return Recurrent(node, op);
}

// Gates in the order z (update), r (reset), h (candidate).
absl::Status TranslateGRU(OnnxNode& node) {
  Operator op;
  op.gates = 3;
  op.activations = {"Sigmoid", "Tanh"};
  const bool reset_after = node.Int("linear_before_reset", 0) != 0;
  // The recurrent bias of the candidate stays with its product if that is reset afterwards.
  op.outer_bias = [reset_after](const Cell& cell) {
    if (!reset_after) return SumOfBiases(cell);
    Builder& b = cell.b();
    const ValueId both = cell.Of(3);
    const Dim h = cell.hidden;
    const ValueId input = Slice(b, both, 0, Dim(0), h * 3);
    const ValueId gates = Slice(b, both, 0, h * 3, h * 5);
    const ValueId none = Full(b, b.type(both).dtype, {h}, 0);
    return Binary(b, "add", input, Concatenate(b, {gates, none}, 0));
  };
  op.make_step = [reset_after](const Cell& cell, ValueId r) -> Step {
    Builder& b = cell.b();
    const Dim h = cell.hidden;
    const ValueId r_gates = Slice(b, r, 1, Dim(0), h * 2);
    const ValueId r_candidate = Slice(b, r, 1, h * 2, h * 3);
    ValueId candidate_bias;
    if (reset_after && cell.node.has_input(3)) {
      candidate_bias = Slice(b, cell.Of(3), 0, h * 5, h * 6);
    }
    return [=, &cell](Builder& at, ValueId x_part, const std::vector<ValueId>& state) {
      const ValueId gates =
          Binary(at, "add", Slice(at, x_part, 1, Dim(0), h * 2), MatMul(at, state[0], r_gates));
      const ValueId z = cell.Apply(at, 0, cell.Gate(at, gates, 0));
      const ValueId reset = cell.Apply(at, 0, cell.Gate(at, gates, 1));
      ValueId recurrent;
      if (reset_after) {
        recurrent = MatMul(at, state[0], r_candidate);
        if (candidate_bias.valid()) recurrent = Binary(at, "add", recurrent, candidate_bias);
        recurrent = Binary(at, "multiply", reset, recurrent);
      } else {
        recurrent = MatMul(at, Binary(at, "multiply", reset, state[0]), r_candidate);
      }
      const ValueId sum = Binary(at, "add", cell.Gate(at, x_part, 2), recurrent);
      const ValueId candidate = cell.Apply(at, 1, sum);
      const ValueId kept = Binary(at, "multiply", z, state[0]);
      const ValueId fresh =
          Binary(at, "multiply", Binary(at, "subtract", FullLike(at, z, 1), z), candidate);
      return std::vector<ValueId>{Binary(at, "add", fresh, kept)};
    };
  };
  return Recurrent(node, op);
}

// Gates in the order i (input), o (output), f (forget), c (cell).
absl::Status TranslateLSTM(OnnxNode& node) {
  if (node.Int("input_forget", 0) != 0) return node.Unsupported("input_forget");
  Operator op;
  op.gates = 4;
  op.states = 2;
  op.activations = {"Sigmoid", "Tanh", "Tanh"};
  op.outer_bias = &SumOfBiases;
  op.make_step = [](const Cell& cell, ValueId r) -> Step {
    Builder& b = cell.b();
    // Peepholes: [3 * hidden] in the order i, o, f.
    const ValueId peep = cell.node.has_input(7) ? cell.Of(7) : ValueId();
    auto peephole = [&](int k) {
      return peep.valid() ? Slice(b, peep, 0, cell.hidden * k, cell.hidden * (k + 1)) : ValueId();
    };
    const ValueId p_i = peephole(0);
    const ValueId p_o = peephole(1);
    const ValueId p_f = peephole(2);
    return [=, &cell](Builder& at, ValueId x_part, const std::vector<ValueId>& state) {
      const ValueId gates = Binary(at, "add", x_part, MatMul(at, state[0], r));
      auto gate = [&](int k, ValueId p, ValueId c) {
        ValueId sum = cell.Gate(at, gates, k);
        if (p.valid()) sum = Binary(at, "add", sum, Binary(at, "multiply", p, c));
        return cell.Apply(at, 0, sum);
      };
      const ValueId i = gate(0, p_i, state[1]);
      const ValueId f = gate(2, p_f, state[1]);
      const ValueId candidate = cell.Apply(at, 1, cell.Gate(at, gates, 3));
      const ValueId c = Binary(at, "add", Binary(at, "multiply", f, state[1]),
                               Binary(at, "multiply", i, candidate));
      const ValueId o = gate(1, p_o, c);
      return std::vector<ValueId>{Binary(at, "multiply", o, cell.activations[2](at, c)), c};
    };
  };
  return Recurrent(node, op);
}

}  // namespace weir::onnx_import
