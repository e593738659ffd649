#include "common/tensor/shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 62;

absl::Status BindError(std::string_view what, const Shape& shape, absl::Span<const int64_t> extents,
                       std::string_view why) {
  return InvalidArgument(what, " must have shape ", shape.ToString(), ", got ",
                         ExtentsToString(extents), ": ", why);
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(text.back())) text.remove_suffix(1);
  return text;
}

// Splits at the commas outside parentheses.
std::vector<std::string_view> SplitDims(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (!parts.empty() || !Trim(text).empty()) parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

int64_t NumElements(absl::Span<const int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (extent == 0) return 0;
    count *= extent;
  }
  return count;
}

absl::StatusOr<int64_t> CheckedNumElements(absl::Span<const int64_t> extents, DType dtype) {
  const int64_t limit = kMaxBytes / SizeOf(dtype);
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0) {
      return InvalidArgument("shape ", ExtentsToString(extents), " has a negative extent");
    }
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count) || count > limit) {
      return InvalidArgument("shape ", ExtentsToString(extents), " of ", DTypeName(dtype),
                             " is more than 2^62 bytes");
    }
  }
  return empty ? 0 : count;
}

std::string ExtentsToString(absl::Span<const int64_t> extents) {
  std::string out = "[";
  for (size_t i = 0; i < extents.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", extents[i]);
  return out + "]";
}

Extents RowMajorStrides(absl::Span<const int64_t> extents) {
  Extents strides(extents.size());
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(extents[i], 1);
  }
  return strides;
}

Shape Shape::FromExtents(absl::Span<const int64_t> extents) {
  return Shape(std::vector<Dim>(extents.begin(), extents.end()));
}

bool Shape::is_static() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.is_number(); });
}

Extents Shape::extents() const {
  Extents out;
  for (const Dim& dim : dims_) out.push_back(dim.number());
  return out;
}

Dim Shape::num_elements() const {
  Dim product = 1;
  for (const Dim& dim : dims_) product = product * dim;
  return product;
}

absl::StatusOr<Extents> Shape::Evaluate(const SymbolBindings& bindings) const {
  Extents out;
  for (const Dim& dim : dims_) {
    absl::StatusOr<int64_t> extent = dim.Evaluate(bindings);
    if (!extent.ok()) return Annotate(extent.status(), StrCat("shape ", ToString()));
    if (*extent < 0) {
      return InvalidArgument("shape ", ToString(), ": axis ", out.size(), " becomes ", *extent,
                             ", but extents are not negative");
    }
    out.push_back(*extent);
  }
  return out;
}

Shape Shape::Substitute(const std::map<std::string, Dim, std::less<>>& symbols) const {
  Shape out;
  for (const Dim& dim : dims_) out.dims_.push_back(dim.Substitute(symbols));
  return out;
}

void Shape::CollectSymbols(std::set<std::string, std::less<>>* out) const {
  for (const Dim& dim : dims_) dim.CollectSymbols(out);
}

std::string Shape::ToString() const {
  std::string out = "[";
  for (int i = 0; i < rank(); ++i) StrAppend(&out, i == 0 ? "" : ",", dims_[i].ToString());
  return out + "]";
}

std::string TensorType::ToString() const { return StrCat(DTypeName(dtype), shape.ToString()); }

absl::StatusOr<TensorType> TensorType::Parse(std::string_view text) {
  constexpr size_t kShown = 64;
  const std::string_view shown = text.substr(0, kShown);
  const std::string_view trimmed = Trim(text);
  const size_t bracket = trimmed.find('[');
  if (bracket == std::string_view::npos || trimmed.back() != ']') {
    return InvalidArgument("type '", shown, "': expected dtype[dims], such as f32[n,8]");
  }
  const std::string_view name = Trim(trimmed.substr(0, bracket));
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype) {
    return InvalidArgument("type '", shown, "': no dtype is called '", name.substr(0, kShown),
                           "' (bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128)");
  }
  TensorType out{*dtype, {}};
  const std::string_view inside = trimmed.substr(bracket + 1, trimmed.size() - bracket - 2);
  const std::vector<std::string_view> parts = SplitDims(inside);
  if (parts.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgument("type '", shown, "': rank ", parts.size(), " is above ", kMaxRank);
  }
  for (std::string_view part : parts) {
    absl::StatusOr<Dim> dim = Dim::Parse(part);
    if (!dim.ok()) return Annotate(dim.status(), StrCat("type '", shown, "'"));
    if (dim->is_number() && dim->number() < 0) {
      return InvalidArgument("type '", shown, "': dimension ", dim->number(), " is negative");
    }
    out.shape.dims().push_back(*std::move(dim));
  }
  return out;
}

absl::Status BindShape(const Shape& shape, absl::Span<const int64_t> extents, std::string_view what,
                       SymbolBindings* bindings) {
  if (static_cast<size_t>(shape.rank()) != extents.size()) {
    return BindError(what, shape, extents,
                     StrCat("rank ", extents.size(), " instead of ", shape.rank()));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!shape[axis].is_symbol()) continue;
    const std::string& symbol = shape[axis].symbol();
    const auto [bound, is_new] = bindings->try_emplace(symbol, extents[axis]);
    if (is_new || bound->second == extents[axis]) continue;
    return BindError(what, shape, extents,
                     StrCat("axis ", axis, " is ", extents[axis], ", but ", symbol, " is ",
                            bound->second, " already"));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape[axis];
    if (dim.is_symbol() || dim.is_unknown()) continue;
    const absl::StatusOr<int64_t> wanted = dim.Evaluate(*bindings);
    if (!wanted.ok()) {
      return BindError(what, shape, extents,
                       StrCat("axis ", axis, ": ", ToStd(wanted.status().message())));
    }
    if (*wanted == extents[axis]) continue;
    return BindError(what, shape, extents,
                     StrCat("axis ", axis, " is ", extents[axis], " instead of ", *wanted));
  }
  return absl::OkStatus();
}

}  // namespace weir
