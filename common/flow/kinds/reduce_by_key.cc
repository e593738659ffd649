#include <algorithm>
#include <array>

#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

using Types = absl::StatusOr<std::optional<std::vector<RecordType>>>;

TensorType MeanOf(const TensorType& type) {
  const bool is_float = type.dtype == DType::kF32 || type.dtype == DType::kF64;
  return {is_float ? type.dtype : DType::kF64, type.shape};
}

absl::StatusOr<RecordType> ValuesByName(const std::string& combine, const RecordType& values) {
  constexpr std::array kKnown = {"sum", "min", "max", "mean", "count"};
  if (std::find(kKnown.begin(), kKnown.end(), combine) == kKnown.end()) {
    return InvalidArgument("combine = ", Quote(combine), "; it is sum, min, max, mean or count");
  }
  if (combine == "count") return RecordType{{DType::kI64, Shape()}};
  RecordType results = values;
  for (TensorType& type : results) {
    const bool is_number = IsFloat(type.dtype) || IsInteger(type.dtype);
    if (!is_number) return InvalidArgument("there is no ", combine, " of ", type.ToString());
    if (combine == "mean") type = MeanOf(type);
  }
  return results;
}

absl::StatusOr<RecordType> ValuesByFunction(const KindContext& context, const RecordType& values) {
  RecordType both = values;
  both.insert(both.end(), values.begin(), values.end());
  WEIR_ASSIGN_OR_RETURN(RecordType results, context.Call("function", both));
  if (results == values) return results;
  return InvalidArgument("the function combines values of ", ToString(values), " and returns ",
                         ToString(results));
}

Types Infer(const KindContext& context) {
  if (context.inputs[0] == nullptr) return NotKnownYet();
  const RecordType& records = *context.inputs[0];
  WEIR_RETURN_IF_ERROR(CheckKeys(context.vertex, records));
  WEIR_RETURN_IF_ERROR(CheckKeyedState(context.vertex));
  const bool by_name = context.vertex.FindAttr("combine") != nullptr;
  const bool by_function = context.vertex.FindAttr("function") != nullptr;
  if (by_name == by_function) {
    return InvalidArgument("it needs one of the attributes 'combine' and 'function'");
  }
  const auto first_value = records.begin() + context.vertex.attr("keys").AsInt();
  const RecordType values(first_value, records.end());
  auto results = by_name ? ValuesByName(context.vertex.attr("combine").AsString(), values)
                         : ValuesByFunction(context, values);
  WEIR_RETURN_IF_ERROR(results.status());
  RecordType type(records.begin(), first_value);
  type.insert(type.end(), results->begin(), results->end());
  if (type.empty()) return InvalidArgument("records would have neither keys nor values");
  return OneOutput(std::move(type));
}

}  // namespace

// The values of each key, combined element by element. State and emit as in keyed_state.h.
//
// sum: of value times weight. Integers wrap in their own type. Floats are added up in f64, in
// order, beginning with the first product, and rounded to their type when the result comes out;
// state that outlives a time keeps the f64 and adds the records of each time to it. mean: such a
// sum, of integers too, divided by the sum of weights; rounded as the result's type. count: the sum
// of weights. min, max: of the values (all value columns of a record together) whose weights sum to
// more than 0 over the life of the state; as the ops `minimum` and `maximum`. function: folds the
// values in order, f(f(v0, v1), v2), from the first record of the state's life on, each as many
// times as its weight says; a weight below zero or above kMaxRepeats is an error.
//
// A key is there, and has a result, while the sum of its weights is not 0 (min, max: while it has
// such values). A NaN in a result of sum, mean, min or max is the quiet NaN of its type.
VertexKind ReduceByKeyKind() {
  VertexKind kind = {.name = "reduce_by_key",
                     .summary = "one record for each key, its values combined"};
  kind.attrs = {{"keys", Attr::Kind::kInt, true,
                 "how many of the first columns are the key; 0: all records are one group"},
                {"combine", Attr::Kind::kString, false, "sum, min, max, mean or count"},
                {"function", Attr::Kind::kString, false,
                 "from the values of two records to those of one; called in the order of origins",
                 FlowAttr::Calls::kRecord}};
  AddKeyedStateAttrs(&kind);
  kind.infer = Infer;
  kind.route = RouteByKeys;
  return kind;
}

}  // namespace weir
