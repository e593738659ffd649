#include "common/tensor/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/status.h"
#include "common/tensor/copy.h"

namespace weir {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;
// NumPy leaves room for the first extent to grow to this many digits.
constexpr size_t kGrowthDigits = 21;

struct NpyCode {
  std::string_view code;
  DType dtype;
};
constexpr NpyCode kCodes[] = {
    {"b1", DType::kBool}, {"i1", DType::kI8},    {"i2", DType::kI16}, {"i4", DType::kI32},
    {"i8", DType::kI64},  {"u1", DType::kU8},    {"u2", DType::kU16}, {"u4", DType::kU32},
    {"u8", DType::kU64},  {"f2", DType::kF16},   {"f4", DType::kF32}, {"f8", DType::kF64},
    {"c8", DType::kC64},  {"c16", DType::kC128},
};

// Reads the Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  absl::Status Parse(NpyHeader* header) {
    if (!Accept("{")) return Error("'{'");
    bool seen_descr = false;
    bool seen_order = false;
    bool seen_shape = false;
    while (!Accept("}")) {
      WEIR_ASSIGN_OR_RETURN(const std::string_view key, ParseString());
      if (!Accept(":")) return Error("':'");
      bool* seen = key == "descr"           ? &seen_descr
                   : key == "fortran_order" ? &seen_order
                   : key == "shape"         ? &seen_shape
                                            : nullptr;
      if (seen == nullptr || *seen) return Error("each of descr, fortran_order and shape once");
      *seen = true;
      if (seen == &seen_descr) {
        WEIR_RETURN_IF_ERROR(ParseDescr(header));
      } else if (seen == &seen_order) {
        WEIR_RETURN_IF_ERROR(ParseOrder(header));
      } else {
        WEIR_RETURN_IF_ERROR(ParseShape(header));
      }
      if (!Accept(",") && !LookingAt("}")) return Error("',' or '}'");
    }
    SkipSpace();
    if (position_ != text_.size()) return Error("nothing behind '}'");
    if (seen_descr && seen_order && seen_shape) return absl::OkStatus();
    return InvalidArgument("the header lacks ", !seen_descr   ? "descr"
                                                : !seen_order ? "fortran_order"
                                                              : "shape");
  }

 private:
  absl::StatusOr<std::string_view> ParseString() {
    SkipSpace();
    const char quote = position_ < text_.size() ? text_[position_] : ' ';
    if (quote != '\'' && quote != '"') return Error("a quoted string");
    const size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) return Error("a closing quote");
    const std::string_view out = text_.substr(position_ + 1, end - position_ - 1);
    if (out.find('\\') != std::string_view::npos) return Error("a string without escapes");
    position_ = end + 1;
    return out;
  }

  absl::Status ParseDescr(NpyHeader* header) {
    if (LookingAt("[") || LookingAt("(")) {
      return InvalidArgument(
          "structured dtypes are not supported; save each field as an array of its own");
    }
    WEIR_ASSIGN_OR_RETURN(const std::string_view descr, ParseString());
    std::string_view code = descr;
    const char order = code.empty() ? ' ' : code[0];
    if (order == '<' || order == '>' || order == '=' || order == '|') code.remove_prefix(1);
    for (const NpyCode& known : kCodes) {
      if (known.code != code) continue;
      header->dtype = known.dtype;
      header->swapped = order == '>' && SizeOf(known.dtype) > 1;
      return absl::OkStatus();
    }
    return UnsupportedDescr(descr, code.empty() ? ' ' : code[0]);
  }

  static absl::Status UnsupportedDescr(std::string_view descr, char kind) {
    std::string_view why = "is not supported; save it as bool, i1-i8, u1-u8, f2-f8, c8 or c16";
    if (kind == 'O') {
      why = "holds pickled Python objects, which are never read; save numbers instead";
    } else if (kind == 'U' || kind == 'S' || kind == 'a') {
      why = "holds text; only numbers are tensors";
    } else if (kind == 'M' || kind == 'm') {
      why = "holds times; save them as i8";
    } else if (kind == 'V') {
      why = "holds raw bytes (bfloat16 arrays look like this too); save it as f4";
    }
    return InvalidArgument("dtype '", descr.substr(0, 32), "' ", why);
  }

  absl::Status ParseOrder(NpyHeader* header) {
    header->fortran_order = Accept("True");
    if (!header->fortran_order && !Accept("False")) return Error("True or False");
    return absl::OkStatus();
  }

  absl::Status ParseShape(NpyHeader* header) {
    if (!Accept("(")) return Error("'('");
    while (!Accept(")")) {
      SkipSpace();
      int64_t extent = 0;
      const char* begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) return Error("an extent");
      position_ += static_cast<size_t>(end - begin);
      Accept("L");
      if (header->extents.size() == static_cast<size_t>(kMaxRank)) {
        return InvalidArgument("the rank is above ", kMaxRank);
      }
      header->extents.push_back(extent);
      if (!Accept(",") && !LookingAt(")")) return Error("',' or ')'");
      if (header->extents.size() == 1 && LookingAt(")") && text_[position_ - 1] != ',') {
        return Error("',' behind the only extent");
      }
    }
    return absl::OkStatus();
  }

  void SkipSpace() {
    while (position_ < text_.size() && absl::ascii_isspace(text_[position_])) ++position_;
  }

  bool LookingAt(std::string_view token) {
    SkipSpace();
    return text_.substr(position_, token.size()) == token;
  }

  bool Accept(std::string_view token) {
    if (!LookingAt(token)) return false;
    position_ += token.size();
    return true;
  }

  absl::Status Error(std::string_view wanted) const {
    return InvalidArgument("the header is not that of a .npy file: expected ", wanted,
                           " at character ", position_ + 1);
  }

  std::string_view text_;
  size_t position_ = 0;
};

// Returns: the text of the header and sets where the data start.
absl::StatusOr<std::string_view> HeaderText(std::string_view prefix, int64_t* data_offset) {
  if (prefix.substr(0, kMagic.size()) != kMagic) {
    return InvalidArgument("not a .npy file (the first bytes are not \\x93NUMPY)");
  }
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(prefix[i]); };
  if (prefix.size() < 8) return InvalidArgument("the file ends inside the header");
  const int major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    return InvalidArgument("format version ", major, ".", int{byte(7)},
                           " is unknown; 1.0 to 3.0 are read");
  }
  const size_t begin = major == 1 ? 10 : 12;
  if (prefix.size() < begin) return InvalidArgument("the file ends inside the header");
  size_t length = 0;
  for (size_t i = begin; i-- > 8;) length = length << 8 | byte(i);
  if (length > kMaxNpyHeaderBytes - begin) {
    return InvalidArgument("a header of ", length, " bytes is too long");
  }
  if (length > prefix.size() - begin) return InvalidArgument("the file ends inside the header");
  *data_offset = static_cast<int64_t>(begin + length);
  return prefix.substr(begin, length);
}

absl::StatusOr<NpyHeader> ParseUnnamed(std::string_view prefix, int64_t file_bytes) {
  NpyHeader header;
  WEIR_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(prefix, &header.data_offset));
  WEIR_RETURN_IF_ERROR(HeaderParser(text).Parse(&header));
  WEIR_ASSIGN_OR_RETURN(const int64_t count, CheckedNumElements(header.extents, header.dtype));
  header.data_bytes = count * SizeOf(header.dtype);
  const int64_t present = file_bytes - header.data_offset;
  if (present < header.data_bytes) {
    return InvalidArgument("the file is cut: ", DTypeName(header.dtype),
                           ExtentsToString(header.extents), " needs ", header.data_bytes,
                           " bytes, but ", present, " are there");
  }
  if (present > header.data_bytes) {
    return InvalidArgument(present - header.data_bytes, " bytes follow the array ",
                           DTypeName(header.dtype), ExtentsToString(header.extents));
  }
  return header;
}

void SwapBytes(size_t size, std::byte* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i, data += size) std::reverse(data, data + size);
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view prefix, int64_t file_bytes,
                                         std::string_view what) {
  absl::StatusOr<NpyHeader> header = ParseUnnamed(prefix, file_bytes);
  if (!header.ok()) return Annotate(header.status(), what);
  return header;
}

absl::StatusOr<Tensor> AllocateNpy(const NpyHeader& header, std::string_view what) {
  absl::StatusOr<Tensor> tensor = Tensor::TryCreate(header.dtype, header.extents);
  if (!tensor.ok()) return Annotate(tensor.status(), what);
  return tensor;
}

absl::StatusOr<Tensor> FinishNpy(const NpyHeader& header, Tensor data) {
  std::byte* bytes = data.raw_mutable_data();
  if (header.dtype == DType::kBool) {
    for (int64_t i = 0; i < header.data_bytes; ++i) {
      bytes[i] = bytes[i] == std::byte{0} ? std::byte{0} : std::byte{1};
    }
  }
  if (header.swapped) {
    const int64_t part = SizeOf(header.dtype) / (IsComplex(header.dtype) ? 2 : 1);
    SwapBytes(static_cast<size_t>(part), bytes, header.data_bytes / part);
  }
  if (!header.fortran_order || data.rank() < 2) return data;
  Extents reversed(header.extents.rbegin(), header.extents.rend());
  Extents strides = RowMajorStrides(reversed);
  std::reverse(strides.begin(), strides.end());
  const Tensor view(header.dtype, header.extents, strides, 0, data.buffer());
  WEIR_ASSIGN_OR_RETURN(Tensor out, Tensor::TryCreate(header.dtype, header.extents));
  view.CopyTo(out.raw_mutable_data());
  return out;
}

absl::StatusOr<std::string> FormatNpyHeader(DType dtype, absl::Span<const int64_t> extents) {
  const NpyCode* code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                     [&](const NpyCode& known) { return known.dtype == dtype; });
  if (code == std::end(kCodes)) {
    return InvalidArgument("NumPy has no dtype for ", DTypeName(dtype), "; convert it to f32");
  }
  std::string text = StrCat("{'descr': '", SizeOf(dtype) == 1 ? "|" : "<", code->code,
                            "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < extents.size(); ++i) StrAppend(&text, i == 0 ? "" : ", ", extents[i]);
  text += extents.size() == 1 ? ",), }" : "), }";
  if (!extents.empty()) text.append(kGrowthDigits - StrCat(extents[0]).size(), ' ');
  constexpr size_t kPrefix = 10;
  text.append(kAlignment - (kPrefix + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace weir
