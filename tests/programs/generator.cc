#include "tests/programs/generator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/axes.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"
#include "common/tensor/tensor.h"
#include "tests/programs/templates.h"

namespace weir {
namespace {

constexpr int kMaxMovedRank = 5;

// Element-wise ops take these extents in place of their sample's, so that values meet.
const std::vector<Extents>& CommonExtents() {
  static const auto* const extents = new std::vector<Extents>{{}, {3}, {2, 3}, {4}};
  return *extents;
}

// True for element-wise ops on operands of one type.
bool TakesAnyExtents(const Template& t) {
  if (!t.op->elementwise.has_value() || t.sample.operands.empty()) return false;
  const SampleOperand& first = t.sample.operands[0];
  return std::all_of(t.sample.operands.begin(), t.sample.operands.end(), [&](const auto& operand) {
    return operand.extents == first.extents && operand.dtype == first.dtype &&
           !operand.value.has_value();
  });
}

class Generator {
 public:
  explicit Generator(const GeneratorOptions& options) : options_(options), random_(options.seed) {
    program_.seed = options.seed;
    for (const Template& t : Templates()) {
      if (TakesAnyExtents(t)) joining_[t.sample.operands[0].dtype].push_back(&t);
    }
  }

  RandomProgram Run() {
    const Dim n = Dim::Symbol("n");
    Builder main(&program_.graph, program_.graph.AddFunction("main").body, &Ops());
    main_ = main.region();
    Builder body = main.In(main.NewRegion());
    loop_variable_ = body.AddArg({DType::kI64, Shape()}, "i");
    varying_.insert(loop_variable_);
    // A mapped parameter in any case, which says how large n is.
    in_order_ = Chance(15);
    const std::vector<ValueId> count = Count(main, n);
    Loop loop(this, loop_variable_, n);
    Scope scope{{loop_variable_}};
    scope.values.push_back(Mapped(body, Rand(DType::kF32, {3})));
    Fill(body, scope, options_.max_nodes, 0);
    std::vector<ValueId> results;
    for (ValueId value : scope.values) {
      if (!used_.contains(value)) results.push_back(value);
    }
    results.push_back(Any(scope));
    body.Yield(results);
    main.Yield(main.ApplyAll("pfor", count, {{"extent", std::vector<Dim>{n}}}, {body.region()}));
    if (!main.ok()) program_.graph = Graph();
    return std::move(program_);
  }

 private:
  // Values that may be used, outermost first.
  struct Scope {
    std::vector<ValueId> values;
  };

  // A loop around what is generated, while this lives. `extent`: of a pfor.
  class Loop {
   public:
    Loop(Generator* generator, ValueId index, std::optional<Dim> extent = {})
        : generator_(generator) {
      generator->loops_.push_back({++generator->numbers_, index, std::move(extent)});
    }
    ~Loop() { generator_->loops_.pop_back(); }

   private:
    Generator* generator_;
  };

  int64_t Below(int64_t count) { return static_cast<int64_t>(random_() % count); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <class T>
  const T& Choose(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(list.size())))];
  }

  // The more patterns of varying operands, the likelier, so that each pattern of each op is met.
  template <class T>
  const T& ByPatterns(const std::vector<T>& list) {
    int64_t all = 0;
    for (const T& item : list) all += Patterns(item);
    int64_t place = Below(all);
    auto it = list.begin();
    while (place >= Patterns(*it)) place -= Patterns(*it++);
    return *it;
  }

  // The younger a value, the likelier.
  ValueId Any(const Scope& scope) {
    const int64_t size = static_cast<int64_t>(scope.values.size());
    return scope.values[static_cast<size_t>(std::max(Below(size), Below(size)))];
  }

  static Scope OfType(Builder& b, const Scope& scope, const TensorType& type) {
    Scope fitting = scope;
    std::erase_if(fitting.values, [&](ValueId value) { return b.type(value) != type; });
    return fitting;
  }

  // Of the outermost loop: none mostly, so that all n iterations run.
  std::vector<ValueId> Count(Builder& main, const Dim& n) {
    if (!Chance(15)) return {};
    return {main.Apply("minimum", {DimValue(main, n), main.Scalar<int64_t>(Below(5))})};
  }

  // --- sources

  ValueId AddParameter(const SampleOperand& operand, bool mapped) {
    TensorType type{operand.dtype, Shape::FromExtents(operand.extents)};
    if (mapped) type.shape.dims().insert(type.shape.dims().begin(), Dim::Symbol("n"));
    program_.parameters.push_back({operand, mapped});
    return program_.graph.AddArg(main_, std::move(type));
  }

  ValueId Mapped(Builder& b, const SampleOperand& operand) {
    return Note(TakeRow(b, AddParameter(operand, true), loop_variable_), true);
  }

  ValueId Note(ValueId value, bool varies) {
    if (varies) varying_.insert(value);
    return value;
  }

  ValueId Operand(Builder& b, const Scope& scope, const SampleOperand& wanted) {
    if (!wanted.may_vary) return AddParameter(wanted, false);
    const TensorType type{wanted.dtype, Shape::FromExtents(wanted.extents)};
    const Scope fitting = OfType(b, scope, type);
    if (!fitting.values.empty() && Chance(75)) return Any(fitting);
    return Chance(60) ? Mapped(b, wanted) : AddParameter(wanted, false);
  }

  // One that varies, or one that does not.
  ValueId Operand(Builder& b, const Scope& scope, const SampleOperand& wanted, bool varies) {
    if (!wanted.may_vary) return AddParameter(wanted, false);
    Scope fitting = OfType(b, scope, {wanted.dtype, Shape::FromExtents(wanted.extents)});
    std::erase_if(fitting.values, [&](ValueId x) { return varying_.contains(x) != varies; });
    if (!fitting.values.empty() && Chance(75)) return Any(fitting);
    return varies ? Mapped(b, wanted) : AddParameter(wanted, false);
  }

  // --- nodes

  // Puts about `nodes` nodes into the region.
  void Fill(Builder& b, Scope& scope, int nodes, int depth) {
    for (int i = 0; i < nodes && b.ok(); ++i) {
      const int64_t kind = depth < options_.max_depth ? Below(20) : 5 + Below(15);
      if (kind == 0) {
        If(b, scope, depth);
      } else if (kind == 1) {
        Case(b, scope, depth);
      } else if (kind == 2) {
        While(b, scope, depth);
      } else if (kind == 3) {
        For(b, scope, depth);
      } else if (kind == 4) {
        Pfor(b, scope, depth);
      } else if (kind == 5) {
        Access(b, scope, depth);
      } else if (kind == 6 && Chance(60)) {
        Chance(60) ? Meet(b, scope) : Print(b, scope);
      } else {
        Op(b, scope);
      }
    }
  }

  void Op(Builder& b, Scope& scope) {
    if (Chance(40) && Join(b, scope)) return;
    if (Chance(10) && Move(b, scope)) return;
    const Template& t = *ByPatterns(ByPatterns(ByPatterns(Choices())));
    Sample sample = t.sample;
    if (TakesAnyExtents(t)) Resize(&sample, Choose(CommonExtents()));
    // What varies of several operands is left to luck only half of the time.
    const bool draws = Chance(50);
    std::vector<ValueId> inputs;
    for (const SampleOperand& operand : sample.operands) {
      inputs.push_back(draws ? Operand(b, scope, operand, Chance(50)) : Operand(b, scope, operand));
    }
    Apply(b, scope, *t.op, sample, inputs);
  }

  // An element-wise op on some value and others of its type. Returns: false if there is none.
  bool Join(Builder& b, Scope& scope) {
    const ValueId value = Any(scope);
    const TensorType type = b.type(value);
    auto fitting = joining_.find(type.dtype);
    if (fitting == joining_.end()) return false;
    const Template& t = *Choose(fitting->second);
    Sample sample = t.sample;
    Extents extents;
    for (const Dim& dim : type.shape.dims()) {
      if (!dim.is_number()) return false;
      extents.push_back(dim.number());
    }
    Resize(&sample, extents);
    std::vector<ValueId> inputs;
    const size_t place = static_cast<size_t>(Below(static_cast<int64_t>(sample.operands.size())));
    for (size_t k = 0; k < sample.operands.size(); ++k) {
      inputs.push_back(k == place ? value : Operand(b, scope, sample.operands[k]));
    }
    Apply(b, scope, *t.op, sample, inputs);
    return true;
  }

  // Other places for the elements of some value, so that movements follow each other. Returns:
  // false if it has too few axes or too many.
  bool Move(Builder& b, Scope& scope) {
    const ValueId value = Any(scope);
    const TensorType type = b.type(value);
    const int rank = type.rank();
    if (rank < 2 || rank > kMaxMovedRank || !IsStatic(type)) return false;
    std::vector<Dim> dims = type.shape.dims();
    const int64_t kind = Below(3);
    if (kind == 0) {
      const Attrs attrs = {{"permutation", Shuffled(rank)}};
      Apply(b, scope, *FindOp("transpose"), {.attrs = attrs}, {value});
    } else if (kind == 1) {
      Int64s axes = Shuffled(rank + 1);
      dims.assign(rank + 1, Dim(2));
      for (int axis = 0; axis < rank; ++axis) dims[axes[axis]] = type.shape[axis];
      axes.pop_back();
      const Attrs attrs = {{"shape", dims}, {"axes", axes}};
      Apply(b, scope, *FindOp("broadcast_in_dim"), {.attrs = attrs}, {value});
    } else {
      dims[0] = dims[0] * dims[1];
      dims.erase(dims.begin() + 1);
      Apply(b, scope, *FindOp("reshape"), {.attrs = {{"shape", dims}}}, {value});
    }
    return true;
  }

  Int64s Shuffled(int count) {
    Int64s axes = FirstAxes(count);
    for (int i = count - 1; i > 0; --i) std::swap(axes[i], axes[Below(i + 1)]);
    return axes;
  }

  void Apply(Builder& b, Scope& scope, const OpDef& op, const Sample& sample,
             const std::vector<ValueId>& inputs) {
    std::string use(op.name);
    use += ' ';
    bool varies = false;
    for (ValueId input : inputs) {
      used_.insert(input);
      use += varying_.contains(input) ? '1' : '0';
      varies = varies || varying_.contains(input);
    }
    ++program_.coverage[use];
    for (ValueId value : b.ApplyAll(std::string(op.name), inputs, sample.attrs)) {
      scope.values.push_back(Note(value, varies));
    }
  }

  static void Resize(Sample* sample, const Extents& extents) {
    for (SampleOperand& operand : sample->operands) operand.extents = extents;
  }

  void Access(Builder& b, Scope& scope, int depth) {
    const int64_t kind = Below(10);
    if (in_order_ && kind < 5) {
      kind < 3 ? AssignInOrder(b, scope) : Read(b, scope, "ordered");
    } else if (kind < 5) {
      Update(b, scope);
    } else if (!in_order_ && kind < 8) {
      Assign(b, scope);
    } else {
      Read(b, scope, "read");
    }
    // What iterations write may be read where all of them meet.
    if (depth == 0 && !in_order_ && Chance(50)) {
      Read(b, scope, std::array{"max", "min", "sum", "last", "mean", "total"}[Below(6)]);
    }
  }

  // The type of a variable of this kind: mostly of one that is there already.
  TensorType VariableType(Builder& b, const Scope& scope, const std::string& kind) {
    const std::vector<TensorType>& known = variable_types_[kind];
    return !known.empty() && Chance(60) ? Choose(known) : b.type(Any(scope));
  }

  // Each variable is written in one way.
  void Update(Builder& b, const Scope& scope) {
    const std::string kind = std::array{"max", "min", "sum"}[Below(3)];
    const TensorType type = VariableType(b, scope, kind);
    if (!IsStatic(type) || type.dtype == DType::kBool || IsComplex(type.dtype)) return;
    // In order what iterations add is added one by one, which rounds otherwise.
    if (in_order_ && kind == "sum" && !IsInteger(type.dtype)) return;
    Write(b, scope, "update_variable", type, {{"name", Variable(kind, type)}, {"kind", kind}});
  }

  void Assign(Builder& b, const Scope& scope) {
    std::string mode = std::array{"last", "mean", "sum"}[Below(3)];
    const std::string kind = mode == "sum" ? "total" : mode;
    const TensorType type = VariableType(b, scope, kind);
    const bool is_exact = !IsFloat(type.dtype) && !IsComplex(type.dtype);
    if (!IsStatic(type) || (is_exact && mode != "last")) return;
    Write(b, scope, "assign_variable", type, {{"name", Variable(kind, type)}, {"mode", mode}});
  }

  void AssignInOrder(Builder& b, const Scope& scope) {
    const TensorType type = VariableType(b, scope, "ordered");
    if (!IsStatic(type)) return;
    Write(b, scope, "assign_variable", type,
          {{"name", Variable("ordered", type)}, {"mode", "ordered"}});
  }

  void Write(Builder& b, const Scope& scope, const std::string& op, const TensorType& type,
             Attrs attrs) {
    const ValueId value = OneOfType(b, scope, type);
    used_.insert(value);
    b.ApplyAll(op, {value}, std::move(attrs));
  }

  void Read(Builder& b, Scope& scope, const std::string& kind) {
    const TensorType type = VariableType(b, scope, kind);
    if (!IsStatic(type)) return;
    const Attrs attrs = {
        {"name", Variable(kind, type)}, {"dtype", type.dtype}, {"shape", type.shape.dims()}};
    scope.values.push_back(Note(b.Apply("read_variable", {}, attrs), kind != "read"));
  }

  // A line that knows its place among those of the loops around.
  void Print(Builder& b, const Scope& scope) {
    std::vector<ValueId> operands;
    std::string message = StrCat("line ", ++numbers_);
    for (int64_t i = Below(3); i > 0; --i) {
      const ValueId value = Any(scope);
      const DType dtype = b.type(value).dtype;
      if (!IsInteger(dtype) && dtype != DType::kBool) continue;
      used_.insert(value);
      operands.push_back(value);
      message += " {}";
    }
    Int64s place;
    for (const auto& loop : loops_) {
      place.push_back(loop.number);
      operands.push_back(loop.index);
    }
    place.push_back(numbers_);
    b.ApplyAll("print", operands, {{"message", message}, {"place", place}, {"rows", int64_t{0}}});
  }

  // What all iterations of the nearest pfor that come here make of some value.
  void Meet(Builder& b, Scope& scope) {
    const auto around = std::find_if(loops_.rbegin(), loops_.rend(),
                                     [](const auto& loop) { return loop.extent.has_value(); });
    const ValueId value = Any(scope);
    const TensorType type = b.type(value);
    if (in_order_ || !IsStatic(type) || type.dtype == DType::kBool) return;
    std::vector<std::string> kinds = {"sum", "prod", "gather"};
    if (!IsComplex(type.dtype)) kinds.insert(kinds.end(), {"max", "min"});
    if (IsFloat(type.dtype) || IsComplex(type.dtype)) kinds.push_back("mean");
    const Attrs attrs = {{"extent", std::vector<Dim>{*around->extent}}, {"kind", Choose(kinds)}};
    used_.insert(value);
    Add(scope, b.ApplyAll("iteration_reduce", {value}, attrs));
  }

  std::string Variable(const std::string& kind, const TensorType& type) {
    std::string name = StrCat(kind, "_", DTypeName(type.dtype));
    for (const Dim& dim : type.shape.dims()) StrAppend(&name, "_", dim.number());
    const bool added =
        program_.variables.emplace(name, Rand(type.dtype, *type.shape.Evaluate({}))).second;
    if (added) variable_types_[kind].push_back(type);
    return name;
  }

  static bool IsStatic(const TensorType& type) {
    return std::all_of(type.shape.dims().begin(), type.shape.dims().end(),
                       [](const Dim& dim) { return dim.is_number(); });
  }

  // i64[] in [0, count), from some value or from the loop variable.
  ValueId SmallNumber(Builder& b, const Scope& scope, int64_t count) {
    std::vector<ValueId> integers = OfType(b, scope, {DType::kI64, Shape()}).values;
    integers.push_back(loop_variable_);
    if (Chance(20)) return b.Scalar<int64_t>(Below(count));
    const ValueId from = Choose(integers);
    const ValueId number = b.Apply("floor_mod", {from, b.Scalar<int64_t>(count)});
    return Note(number, varying_.contains(from));
  }

  ValueId Predicate(Builder& b, const Scope& scope) {
    const std::vector<ValueId> bools = OfType(b, scope, {DType::kBool, Shape()}).values;
    if (!bools.empty() && Chance(50)) return Choose(bools);
    const ValueId number = SmallNumber(b, scope, 3);
    return Note(b.Apply("less", {number, b.Scalar<int64_t>(1)}), varying_.contains(number));
  }

  // A value of this type made in or visible from a region.
  ValueId OneOfType(Builder& b, const Scope& scope, const TensorType& type) {
    const Scope fitting = OfType(b, scope, type);
    if (!fitting.values.empty()) return Any(fitting);
    return Full(b, type.dtype, type.shape.dims(), 1);
  }

  // A region whose results have these types; the first branch chooses them.
  RegionId Branch(Builder& b, const Scope& scope, std::vector<TensorType>* types, int depth) {
    Builder inside = b.In(b.NewRegion());
    Scope inner = scope;
    Fill(inside, inner, static_cast<int>(Below(5)), depth + 1);
    if (types->empty()) {
      for (int64_t i = 1 + Below(3); i > 0; --i) types->push_back(inside.type(Any(inner)));
    }
    std::vector<ValueId> results;
    for (const TensorType& type : *types) results.push_back(OneOfType(inside, inner, type));
    inside.Yield(std::move(results));
    return inside.region();
  }

  void Add(Scope& scope, const std::vector<ValueId>& values) {
    for (ValueId value : values) scope.values.push_back(Note(value, true));
  }

  void If(Builder& b, Scope& scope, int depth) {
    const ValueId predicate = Predicate(b, scope);
    std::vector<TensorType> types;
    const RegionId yes = Branch(b, scope, &types, depth), no = Branch(b, scope, &types, depth);
    Add(scope, b.ApplyAll("if", {predicate}, {}, {yes, no}));
  }

  void Case(Builder& b, Scope& scope, int depth) {
    const int64_t count = 1 + Below(4);
    const ValueId index = SmallNumber(b, scope, count + 1);  // one beyond means the last
    std::vector<TensorType> types;
    std::vector<RegionId> branches;
    for (int64_t i = 0; i < count; ++i) branches.push_back(Branch(b, scope, &types, depth));
    Add(scope, b.ApplyAll("case", {index}, {}, branches));
  }

  // Values that a loop carries: some of the scope, and a new one of the same type each trip.
  struct Carried {
    std::vector<ValueId> starts;
    std::vector<ValueId> args;
    std::vector<ValueId> results;
  };

  Carried Carry(Builder& b, const Scope& scope) {
    Carried carried;
    for (int64_t i = 1 + Below(3); i > 0; --i) carried.starts.push_back(Any(scope));
    return carried;
  }

  void Body(Builder& inside, const Scope& scope, Carried* carried, int depth) {
    Scope inner = scope;
    for (ValueId start : carried->starts) {
      carried->args.push_back(Note(inside.AddArg(inside.type(start)), true));
      inner.values.push_back(carried->args.back());
    }
    Fill(inside, inner, 1 + static_cast<int>(Below(4)), depth + 1);
    // Only some trips of some iterations come to what stands in a loop inside of a branch.
    if (Chance(depth > 0 ? 40 : 15)) Meet(inside, inner);
    for (ValueId start : carried->starts) {
      carried->results.push_back(OneOfType(inside, inner, inside.type(start)));
    }
  }

  void While(Builder& b, Scope& scope, int depth) {
    const ValueId limit = SmallNumber(b, scope, 5);
    Carried carried = Carry(b, scope);
    std::vector<ValueId> starts = {b.Scalar<int64_t>(0)};
    starts.insert(starts.end(), carried.starts.begin(), carried.starts.end());
    Builder condition = b.In(b.NewRegion());
    const ValueId trip = condition.AddArg({DType::kI64, Shape()});
    for (ValueId start : carried.starts) condition.AddArg(b.type(start));
    condition.Yield({condition.Apply("less", {trip, limit})});
    Builder body = b.In(b.NewRegion());
    const ValueId counter = body.AddArg({DType::kI64, Shape()});
    Loop loop(this, counter);
    Scope inner = scope;
    inner.values.push_back(counter);
    Body(body, inner, &carried, depth);
    std::vector<ValueId> results = {body.Apply("add", {counter, body.Scalar<int64_t>(1)})};
    results.insert(results.end(), carried.results.begin(), carried.results.end());
    body.Yield(std::move(results));
    Add(scope, b.ApplyAll("while", std::move(starts), {}, {condition.region(), body.region()}));
  }

  void For(Builder& b, Scope& scope, int depth) {
    const bool collects = Chance(40);
    const int64_t trips = Below(4);
    Carried carried = Carry(b, scope);
    std::vector<ValueId> operands = {collects ? b.Scalar<int64_t>(trips)
                                              : SmallNumber(b, scope, 5)};
    operands.insert(operands.end(), carried.starts.begin(), carried.starts.end());
    Builder body = b.In(b.NewRegion());
    Scope inner = scope;
    inner.values.push_back(body.AddArg({DType::kI64, Shape()}));
    Loop loop(this, inner.values.back());
    Body(body, inner, &carried, depth);
    std::vector<ValueId> results = carried.results;
    Attrs attrs;
    if (collects) {
      results.push_back(Choose(carried.results));
      attrs.emplace("extent", std::vector<Dim>{trips});
    }
    body.Yield(std::move(results));
    Add(scope, b.ApplyAll("for", std::move(operands), std::move(attrs), {body.region()}));
  }

  // Of a length that is known, or that a value says.
  void Pfor(Builder& b, Scope& scope, int depth) {
    const int64_t extent = Below(5);
    std::vector<ValueId> count;
    if (Chance(60)) count.push_back(SmallNumber(b, scope, extent + 1));
    Builder body = b.In(b.NewRegion());
    Scope inner = scope;
    inner.values.push_back(Note(body.AddArg({DType::kI64, Shape()}), true));
    Loop loop(this, inner.values.back(), Dim(extent));
    Fill(body, inner, 1 + static_cast<int>(Below(4)), depth + 1);
    if (Chance(40)) {
      Meet(body, inner);
      Fill(body, inner, static_cast<int>(Below(3)), depth + 1);
    }
    body.Yield({Any(inner), Any(inner)});
    Add(scope, b.ApplyAll("pfor", count, {{"extent", std::vector<Dim>{extent}}}, {body.region()}));
  }

  const GeneratorOptions options_;
  std::mt19937_64 random_;
  RandomProgram program_;
  RegionId main_;
  ValueId loop_variable_;
  struct LoopAround {
    int64_t number;  // rises in the order of the program, with those of printed lines
    ValueId index;
    std::optional<Dim> extent;
  };
  std::map<std::string, std::vector<TensorType>> variable_types_;  // by kind
  std::vector<LoopAround> loops_;                                  // outermost first
  int64_t numbers_ = 0;
  bool in_order_ = false;  // variables are assigned in order, and iterations do not meet
  absl::flat_hash_set<ValueId> varying_;                   // as far as the generator knows
  absl::flat_hash_set<ValueId> used_;                      // by ops
  std::map<DType, std::vector<const Template*>> joining_;  // by the type of all operands
};

}  // namespace

namespace {

// A program that was made smaller may not touch all of its variables any more.
bool Uses(const Graph& graph, const std::string& variable) {
  const Graph compact = Compact(graph);
  for (int i = 0; i < compact.num_nodes(); ++i) {
    const Node& node = compact.node(NodeId(i));
    const bool touches =
        node.op == "read_variable" || node.op == "update_variable" || node.op == "assign_variable";
    if (touches && node.attr("name").AsString() == variable) return true;
  }
  return false;
}

}  // namespace

std::vector<Tensor> RandomProgram::Inputs(int64_t n) const {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < parameters.size(); ++k) {
    const SampleOperand& operand = parameters[k].operand;
    if (!parameters[k].mapped) {
      inputs.push_back(operand.Make(seed + k));
      continue;
    }
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < n; ++i) rows.push_back(operand.Make(seed + 1000 * (i + 1) + k));
    inputs.push_back(Stack(operand.dtype, operand.extents, rows));
  }
  for (const auto& [name, operand] : variables) {
    if (Uses(graph, name)) inputs.push_back(operand.Make(seed + std::hash<std::string>()(name)));
  }
  return inputs;
}

RandomProgram Generate(const GeneratorOptions& options) { return Generator(options).Run(); }

}  // namespace weir
