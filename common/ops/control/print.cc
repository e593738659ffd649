#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "common/base/printed_lines.h"
#include "common/base/status.h"
#include "common/ops/control/region.h"

namespace weir {
namespace {

constexpr std::string_view kHole = "{}";
// Elements of one value that are shown.
constexpr int64_t kShown = 1000;

int64_t CountHoles(std::string_view message) {
  int64_t count = 0;
  for (size_t at = message.find(kHole); at != std::string_view::npos;
       at = message.find(kHole, at + kHole.size())) {
    ++count;
  }
  return count;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const int64_t values = CountHoles(context.attr("message").AsString());
  const int64_t iterations = static_cast<int64_t>(context.attr("place").AsInts().size()) - 1;
  if (iterations < 0) return InvalidArgument("attribute 'place' ends with the number of the op");
  if (context.num_inputs() != values + iterations) {
    return InvalidArgument("the message has ", values, " places for values and 'place' names ",
                           iterations, " loops, but there are ", context.num_inputs(), " operands");
  }
  const int64_t rows = context.attr("rows").AsInt();
  if (rows < 0) return InvalidArgument("attribute 'rows' is ", rows);
  for (int i = 0; i < context.num_inputs(); ++i) {
    const TensorType& type = context.input(i);
    bool fits = type.rank() >= rows;
    for (int axis = 0; fits && axis < rows; ++axis) {
      fits = type.shape[axis] == context.input(0).shape[axis];
    }
    if (!fits) {
      return InvalidArgument("operand ", i, " must have the ", rows,
                             " leading axes of operand 0, found ", type.ToString());
    }
    if (i >= values && (type.dtype != DType::kI64 || type.rank() != rows)) {
      return InvalidArgument("operand ", i, ", iterations, must be i64 of rank ", rows, ", found ",
                             type.ToString());
    }
  }
  return std::vector<TensorType>();
}

// With as many digits as tell it from its neighbours.
template <class T>
std::string Digits(T number) {
  char text[32];
  for (int digits = 6;; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(number));
    const bool is_enough = digits >= std::numeric_limits<T>::max_digits10;
    if (is_enough || static_cast<T>(std::strtod(text, nullptr)) == number) return text;
  }
}

void AppendNumber(const Tensor& scalar, std::string* out) {
  VisitDType(scalar.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      const T number = scalar.At<T>({});
      if (std::isfinite(number)) {
        *out += Digits(number);
        return;
      }
    }
    const std::string text = scalar.ToString(1);
    const size_t open = text.find('{');
    out->append(text, open + 1, text.size() - open - 2);
  });
}

// A number, or rows in brackets.
void AppendValue(const Tensor& value, int64_t* left, std::string* out) {
  if (value.rank() == 0) {
    --*left;
    return AppendNumber(value, out);
  }
  *out += "[";
  for (int64_t i = 0; i < value.extent(0); ++i) {
    if (i > 0) *out += ", ";
    if (*left <= 0) {
      *out += "...";
      break;
    }
    const Tensor row = value.Rows(i, i + 1);
    AppendValue(row.Reshape(absl::MakeConstSpan(row.extents()).subspan(1)), left, out);
  }
  *out += "]";
}

// `row` of the operands, whose rows axes are one.
std::string TextOf(std::string_view message, absl::Span<const Tensor> rows, int64_t row) {
  std::string out;
  for (size_t value = 0;; ++value) {
    const size_t hole = message.find(kHole);
    out.append(message.substr(0, hole));
    if (hole == std::string_view::npos) return out;
    const Tensor one = rows[value].Rows(row, row + 1);
    int64_t left = kShown;
    AppendValue(one.Reshape(absl::MakeConstSpan(one.extents()).subspan(1)), &left, &out);
    message.remove_prefix(hole + kHole.size());
  }
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  PrintedLines* lines = context.printed_lines();
  if (lines == nullptr) return std::vector<Tensor>();
  const size_t row_axes = static_cast<size_t>(context.attr("rows").AsInt());
  const Int64s& numbers = context.attr("place").AsInts();
  const std::string_view message = context.attr("message").AsString();
  int64_t count = 1;
  std::vector<Tensor> rows;
  for (const Tensor& input : context.inputs()) {
    const auto extents = absl::MakeConstSpan(input.extents());
    count = NumElements(extents.first(row_axes));
    Extents joined = {count};
    joined.insert(joined.end(), extents.begin() + static_cast<int64_t>(row_axes), extents.end());
    rows.push_back(input.Reshape(joined));
  }
  const size_t values = rows.size() - (numbers.size() - 1);
  for (int64_t row = 0; row < count; ++row) {
    LinePlace place;
    for (size_t loop = 0; loop + 1 < numbers.size(); ++loop) {
      place.push_back(numbers[loop]);
      place.push_back(rows[values + loop].At<int64_t>({row}));
    }
    place.push_back(numbers.back());
    lines->Add(std::move(place), TextOf(message, rows, row));
  }
  return std::vector<Tensor>();
}

absl::Status Pfor(PforRewrite& rewrite) {
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  Attrs attrs = rewrite.node().attrs;
  attrs.insert_or_assign("rows", Attr(rewrite.attr("rows").AsInt() + 1));
  rewrite.build().ApplyAll("print", std::move(operands), std::move(attrs));
  rewrite.Return(std::vector<ValueId>());
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample one{.label = "one",
             .operands = {Rand(DType::kF32, {2}), Rand(DType::kI64, {}, 0, 9)},
             .attrs = {{"message", "x = {}"}, {"place", Int64s{1, 2}}, {"rows", int64_t{0}}}};
  Sample text{.label = "text alone",
              .operands = {},
              .attrs = {{"message", "here"}, {"place", Int64s{3}}, {"rows", int64_t{0}}}};
  Sample rows{
      .label = "rows",
      .operands = {Rand(DType::kBool, {2, 3}), Rand(DType::kC64, {2, 3, 2}),
                   Rand(DType::kI64, {2, 3}, 0, 9), Rand(DType::kI64, {2, 3}, 0, 9)},
      .attrs = {{"message", "{} and {}"}, {"place", Int64s{1, 2, 3}}, {"rows", int64_t{2}}}};
  return {one, text, rows};
}

}  // namespace

OpDef PrintOp() {
  OpDef op;
  op.name = "print";
  op.summary =
      "writes a line for each row: the message with the values in place of {}; the iterations "
      "given tell where the line stands among others";
  op.inputs = {0, kAny};
  op.outputs = {0, 0};
  op.attrs = {
      {"message", Attr::Kind::kString}, {"place", Attr::Kind::kInts}, {"rows", Attr::Kind::kInt}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  // Lines know their place, so the order in which they are written is free.
  op.effect = Effect::kCommutativeUpdate;
  op.samples = Samples;
  return op;
}

}  // namespace weir
