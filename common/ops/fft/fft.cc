#include <algorithm>
#include <optional>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/fft/fourier.h"
#include "common/ops/linalg/accumulate.h"

namespace weir {
namespace {

constexpr int64_t kLongest = int64_t{1} << 31;

enum class Kind { kFft, kIfft, kRfft, kIrfft };

std::optional<Kind> ParseKind(const std::string& name) {
  if (name == "FFT") return Kind::kFft;
  if (name == "IFFT") return Kind::kIfft;
  if (name == "RFFT") return Kind::kRfft;
  if (name == "IRFFT") return Kind::kIrfft;
  return std::nullopt;
}

// How many of the frequencies of a real line of this length are stored.
template <class D>
D HalfOf(const D& length) {
  if constexpr (std::is_same_v<D, Dim>) {
    return Min(length, FloorDiv(length, 2) + 1);
  } else {
    return std::min(length, length / 2 + 1);
  }
}

// The element type of the result, or nothing if this kind does not take the operand.
std::optional<DType> ResultType(Kind kind, DType operand) {
  const bool real = operand == DType::kF32 || operand == DType::kF64;
  if (real != (kind == Kind::kRfft) || (!real && !IsComplex(operand))) return std::nullopt;
  if (real) return operand == DType::kF32 ? DType::kC64 : DType::kC128;
  if (kind != Kind::kIrfft) return operand;
  return operand == DType::kC64 ? DType::kF32 : DType::kF64;
}

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& operand = context.input(0);
  const std::string& name = context.attr("fft_type").AsString();
  const std::optional<Kind> kind = ParseKind(name);
  if (!kind.has_value()) {
    return InvalidArgument("fft_type \"", name, "\" is none of FFT, IFFT, RFFT, IRFFT");
  }
  const std::optional<DType> dtype = ResultType(*kind, operand.dtype);
  if (!dtype.has_value())
    return InvalidArgument(name, " is not defined for ", OperandText(context, 0));
  const std::vector<Dim>& lengths = context.attr("fft_length").AsDims();
  WEIR_RETURN_IF_ERROR(CheckDims("fft_length", lengths));
  const int count = static_cast<int>(lengths.size());
  if (count < 1 || count > 3 || count > operand.rank()) {
    return InvalidArgument(
        "attribute 'fft_length' must name the lengths of the last 1 to 3 axes of ",
        OperandText(context, 0));
  }
  Shape shape = operand.shape;
  for (int i = 0; i < count; ++i) {
    const int axis = operand.rank() - count + i;
    const bool half = *kind == Kind::kIrfft && i == count - 1;
    const Dim stored = half ? HalfOf(lengths[i]) : lengths[i];
    if (MustDiffer(operand.shape[axis], stored)) {
      return InvalidArgument("axis ", axis, " of ", OperandText(context, 0), " must have extent ",
                             stored.ToString(), " for an fft_length of ", lengths[i].ToString());
    }
    shape[axis] = *kind == Kind::kRfft && i == count - 1 ? HalfOf(lengths[i]) : lengths[i];
  }
  return std::vector<TensorType>{{*dtype, std::move(shape)}};
}

// Complex numbers in row-major order.
struct Block {
  Extents extents;
  Complexes values;
};

Block Load(const Tensor& tensor) {
  const Tensor dense = tensor.Contiguous();
  Block block{dense.extents(), Complexes(dense.num_elements())};
  VisitNumber(dense.dtype(), [&]<class T>(TypeTag<T>) {
    for (size_t i = 0; i < block.values.size(); ++i) {
      block.values[i] = std::complex<double>(ToWide(dense.data<T>()[i]));
    }
  });
  return block;
}

void Store(const Block& block, Tensor* out) {
  VisitNumber(out->dtype(), [&]<class T>(TypeTag<T>) {
    T* to = out->mutable_data<T>();
    for (const std::complex<double>& value : block.values) {
      if constexpr (std::is_same_v<Wide<T>, std::complex<double>>) {
        *to++ = FromWide<T>(value);
      } else {
        *to++ = FromWide<T>(static_cast<Wide<T>>(value.real()));
      }
    }
  });
}

// Replaces every line along the axis by what `transform` makes of it.
template <class Transform>
Block AlongAxis(const Block& in, int axis, int64_t length, const Transform& transform) {
  Block out = in;
  out.extents[axis] = length;
  out.values.resize(NumElements(out.extents));
  if (out.values.empty()) return out;
  const int64_t from = in.extents[axis];
  const int64_t inner = NumElements(absl::MakeConstSpan(in.extents).subspan(axis + 1));
  const int64_t lines = static_cast<int64_t>(out.values.size()) / length;
  Complexes line(from);
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t outer = i / inner;
    for (int64_t k = 0; k < from; ++k) line[k] = in.values[(outer * from + k) * inner + i % inner];
    const Complexes result = transform(line);
    for (int64_t k = 0; k < length; ++k) {
      out.values[(outer * length + k) * inner + i % inner] = result[k];
    }
  }
  return out;
}

// All frequencies of a real line. Imaginary parts of those that are real are dropped.
Complexes Unfolded(const Complexes& half, int64_t length) {
  Complexes line(length);
  for (int64_t k = 0; k < length; ++k) {
    line[k] = 2 * k <= length ? half[k] : std::conj(half[length - k]);
    if (k == 0 || 2 * k == length) line[k] = line[k].real();
  }
  return line;
}

Block Transformed(Block block, Kind kind, absl::Span<const int64_t> lengths) {
  const int rank = static_cast<int>(block.extents.size());
  const int last = rank - 1;
  const Fourier line(lengths.back());
  const auto forward = [&](const Complexes& x) { return line.Forward(x); };
  if (kind == Kind::kFft || kind == Kind::kIfft) {
    block = AlongAxis(block, last, line.length(), [&](const Complexes& x) {
      return kind == Kind::kFft ? line.Forward(x) : line.Inverse(x);
    });
  } else if (kind == Kind::kRfft) {
    block = AlongAxis(block, last, HalfOf(line.length()), forward);
  }
  for (size_t i = lengths.size() - 1; i-- > 0;) {
    const Fourier across(lengths[i]);
    const bool inverse = kind == Kind::kIfft || kind == Kind::kIrfft;
    block = AlongAxis(
        block, rank - static_cast<int>(lengths.size() - i), across.length(),
        [&](const Complexes& x) { return inverse ? across.Inverse(x) : across.Forward(x); });
  }
  if (kind != Kind::kIrfft) return block;
  return AlongAxis(block, last, line.length(),
                   [&](const Complexes& x) { return line.Inverse(Unfolded(x, line.length())); });
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Kind kind = *ParseKind(context.attr("fft_type").AsString());
  const Tensor& operand = context.input(0);
  WEIR_ASSIGN_OR_RETURN(const Extents lengths, context.Evaluate("fft_length"));
  Extents extents = operand.extents();
  for (size_t i = 0; i < lengths.size(); ++i) {
    const size_t axis = extents.size() - lengths.size() + i;
    const bool is_last = i + 1 == lengths.size();
    const int64_t stored = kind == Kind::kIrfft && is_last ? HalfOf(lengths[i]) : lengths[i];
    if (extents[axis] != stored || lengths[i] < 0 || lengths[i] >= kLongest) {
      return InvalidArgument("operand 0 ", ExtentsToString(extents), " does not fit to fft_length ",
                             ExtentsToString(lengths));
    }
    extents[axis] = kind == Kind::kRfft && is_last ? HalfOf(lengths[i]) : lengths[i];
  }
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(context.output_dtype(0), extents));
  if (out.num_elements() > 0) Store(Transformed(Load(operand), kind, lengths), &out);
  return std::vector<Tensor>{std::move(out)};
}

absl::Status StackFft(PforRewrite& rewrite) { return ReturnStacked(rewrite, rewrite.node().attrs); }

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  auto add = [&](DType dtype, Extents extents, const char* kind, std::vector<Dim> lengths) {
    const bool narrow = dtype == DType::kF32 || dtype == DType::kC64;
    samples.push_back({.label = StrCat(kind, " of ", lengths.back().ToString()),
                       .operands = {Rand(dtype, std::move(extents))},
                       .attrs = {{"fft_type", kind}, {"fft_length", std::move(lengths)}},
                       .ulp = 4,
                       .absolute = narrow ? 1e-5 : 1e-14});
  };
  for (int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 12, 30, 31, 37, 64, 74, 97}) {
    add(DType::kC64, {n}, "FFT", {n});
    add(DType::kC128, {2, n}, "IFFT", {n});
    add(DType::kF32, {2, n}, "RFFT", {n});
    add(DType::kC128, {2, HalfOf(n)}, "IRFFT", {n});
  }
  add(DType::kF64, {6}, "RFFT", {6});
  add(DType::kC64, {4}, "IRFFT", {6});
  add(DType::kC64, {2, 3, 4}, "FFT", {3, 4});
  add(DType::kC64, {2, 3, 4, 5}, "IFFT", {3, 4, 5});
  add(DType::kF32, {2, 3, 4, 5}, "RFFT", {3, 4, 5});
  add(DType::kC64, {2, 3, 4, 3}, "IRFFT", {3, 4, 5});
  add(DType::kC64, {0, 3, 4}, "FFT", {3, 4});
  add(DType::kF32, {3, 0}, "RFFT", {3, 0});
  samples.push_back({.label = "not a number",
                     .operands = {Exactly(Tensor::Of<float>({2, 3}, {1, NAN, 2, INFINITY, 0, 1}))},
                     .attrs = {{"fft_type", "RFFT"}, {"fft_length", std::vector<Dim>{3}}},
                     .ulp = 4});
  return samples;
}

}  // namespace

OpDef FftOp() {
  OpDef op;
  op.name = "fft";
  op.summary =
      "discrete Fourier transform of the last 1 to 3 axes: FFT, IFFT, RFFT (half of the "
      "frequencies of real numbers) or IRFFT; any length (StableHLO fft)";
  op.attrs = {{"fft_type", Attr::Kind::kString}, {"fft_length", Attr::Kind::kDims}};
  op.infer = &Infer;
  op.reference = &Evaluate;
  op.pfor = &StackFft;
  op.samples = &Samples;
  return op;
}

}  // namespace weir
