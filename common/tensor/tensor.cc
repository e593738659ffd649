#include "common/tensor/tensor.h"

#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/copy.h"

namespace weir {
namespace {

template <class T>
void AppendElement(T value, std::string* out) {
  if constexpr (std::is_same_v<T, bool>) {
    StrAppend(out, value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    StrAppend(out, static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
    StrAppend(out, static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    StrAppend(out, "(", value.real(), ",", value.imag(), ")");
  } else {
    StrAppend(out, value);
  }
}

// Returns: strides under which the same elements read as `extents`, where there are any.
// REQUIRES: equal number of elements, more than 0.
std::optional<Extents> StridesOfReshape(const Tensor& tensor, absl::Span<const int64_t> extents) {
  Extents old_extents;
  Extents old_strides;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (tensor.extent(axis) == 1) continue;
    old_extents.push_back(tensor.extent(axis));
    old_strides.push_back(tensor.strides()[axis]);
  }
  Extents strides(extents.size(), 1);
  size_t old_begin = 0;
  size_t begin = 0;
  while (old_begin < old_extents.size()) {
    size_t old_end = old_begin + 1;
    size_t end = begin + 1;
    int64_t old_count = old_extents[old_begin];
    int64_t count = extents[begin];
    while (old_count != count) {
      if (count < old_count) {
        count *= extents[end++];
      } else {
        old_count *= old_extents[old_end++];
      }
    }
    for (size_t i = old_begin; i + 1 < old_end; ++i) {
      if (old_strides[i] != old_strides[i + 1] * old_extents[i + 1]) return std::nullopt;
    }
    int64_t stride = old_strides[old_end - 1];
    for (size_t i = end; i-- > begin;) {
      strides[i] = stride;
      stride *= extents[i];
    }
    old_begin = old_end;
    begin = end;
  }
  return strides;
}

}  // namespace

Tensor::Tensor(DType dtype, absl::Span<const int64_t> extents)
    : dtype_(dtype),
      extents_(extents.begin(), extents.end()),
      strides_(RowMajorStrides(extents)),
      buffer_(Buffer::Allocate(static_cast<size_t>(num_bytes()))) {}

Tensor::Tensor(DType dtype, absl::Span<const int64_t> extents, absl::Span<const int64_t> strides,
               int64_t offset, std::shared_ptr<Buffer> buffer)
    : dtype_(dtype),
      extents_(extents.begin(), extents.end()),
      strides_(strides.begin(), strides.end()),
      offset_(offset),
      buffer_(std::move(buffer)) {
  assert(extents.size() == strides.size());
}

absl::StatusOr<Tensor> Tensor::TryCreate(DType dtype, absl::Span<const int64_t> extents) {
  WEIR_ASSIGN_OR_RETURN(const int64_t count, CheckedNumElements(extents, dtype));
  WEIR_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer,
                        Buffer::TryAllocate(static_cast<size_t>(count * SizeOf(dtype))));
  return Tensor(dtype, extents, RowMajorStrides(extents), 0, std::move(buffer));
}

Tensor Tensor::Zeros(DType dtype, absl::Span<const int64_t> extents) {
  Tensor out(dtype, extents);
  std::memset(out.raw_mutable_data(), 0, static_cast<size_t>(out.num_bytes()));
  return out;
}

bool Tensor::is_contiguous() const {
  int64_t stride = 1;
  bool dense = true;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (extents_[axis] == 0) return true;
    if (extents_[axis] == 1) continue;
    dense = dense && strides_[axis] == stride;
    stride *= extents_[axis];
  }
  return dense;
}

Tensor Tensor::Contiguous() const { return is_contiguous() ? *this : Clone(); }

Tensor Tensor::Clone() const {
  Tensor out(dtype_, extents_);
  CopyTo(out.raw_mutable_data());
  return out;
}

const std::byte* Tensor::raw_data() const {
  return buffer_ == nullptr ? nullptr : buffer_->data() + offset_ * SizeOf(dtype_);
}

std::byte* Tensor::raw_mutable_data() {
  return buffer_ == nullptr ? nullptr : buffer_->data() + offset_ * SizeOf(dtype_);
}

Tensor Tensor::Transpose(absl::Span<const int> permutation) const {
  assert(static_cast<int>(permutation.size()) == rank());
  Tensor out = *this;
  for (size_t i = 0; i < permutation.size(); ++i) {
    out.extents_[i] = extents_[permutation[i]];
    out.strides_[i] = strides_[permutation[i]];
  }
  return out;
}

Tensor Tensor::Slice(absl::Span<const int64_t> start, absl::Span<const int64_t> limit,
                     absl::Span<const int64_t> stride) const {
  Tensor out = *this;
  for (int i = 0; i < rank(); ++i) {
    assert(0 <= start[i] && start[i] <= limit[i] && limit[i] <= extents_[i] && stride[i] > 0);
    out.extents_[i] = (limit[i] - start[i]) / stride[i] + ((limit[i] - start[i]) % stride[i] != 0);
    if (out.extents_[i] > 0) out.offset_ += start[i] * strides_[i];
    if (out.extents_[i] > 1) out.strides_[i] = strides_[i] * stride[i];
  }
  return out;
}

Tensor Tensor::Rows(int64_t begin, int64_t end) const {
  assert(0 <= begin && begin <= end && end <= extents_[0]);
  Tensor out = *this;
  out.extents_[0] = end - begin;
  if (end > begin) out.offset_ += begin * strides_[0];
  return out;
}

Tensor Tensor::Row(int64_t index) const {
  Tensor out = Rows(index, index + 1);
  out.extents_.erase(out.extents_.begin());
  out.strides_.erase(out.strides_.begin());
  return out;
}

Tensor Tensor::Reverse(absl::Span<const int> axes) const {
  Tensor out = *this;
  for (int axis : axes) {
    if (extents_[axis] == 0) continue;
    out.offset_ += (extents_[axis] - 1) * strides_[axis];
    out.strides_[axis] = -strides_[axis];
  }
  return out;
}

Tensor Tensor::BroadcastInDim(absl::Span<const int64_t> extents, absl::Span<const int> axes) const {
  assert(static_cast<int>(axes.size()) == rank());
  Tensor out = *this;
  out.extents_.assign(extents.begin(), extents.end());
  out.strides_.assign(extents.size(), 0);
  for (int i = 0; i < rank(); ++i) {
    if (extents_[i] == extents[axes[i]]) out.strides_[axes[i]] = strides_[i];
  }
  return out;
}

std::optional<Tensor> Tensor::TryReshape(absl::Span<const int64_t> extents) const {
  assert(NumElements(extents) == num_elements());
  if (is_contiguous()) {
    return Tensor(dtype_, extents, RowMajorStrides(extents), offset_, buffer_);
  }
  if (const std::optional<Extents> strides = StridesOfReshape(*this, extents)) {
    return Tensor(dtype_, extents, *strides, offset_, buffer_);
  }
  return std::nullopt;
}

Tensor Tensor::Reshape(absl::Span<const int64_t> extents) const {
  if (std::optional<Tensor> view = TryReshape(extents)) return *std::move(view);
  return Clone().Reshape(extents);
}

void Tensor::CopyTo(void* out) const {
  CopyStrided(dtype_, extents_, raw_data(), strides_, out, RowMajorStrides(extents_));
}

bool Tensor::BitEquals(const Tensor& other) const {
  if (dtype_ != other.dtype_ || extents_ != other.extents_) return false;
  if (num_elements() == 0) return true;
  const Tensor a = Contiguous();
  const Tensor b = other.Contiguous();
  if (a.buffer_ == nullptr || b.buffer_ == nullptr) return a.buffer_ == b.buffer_;
  return std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(num_bytes())) == 0;
}

std::string Tensor::ToString(int64_t limit) const {
  std::string out = StrCat(DTypeName(dtype_), ExtentsToString(extents_), " {");
  const int64_t count = buffer_ == nullptr ? 0 : num_elements();
  const int64_t shown = std::min(count, limit);
  VisitDType(dtype_, [&]<class T>(TypeTag<T>) {
    Extents index(extents_.size(), 0);
    for (int64_t i = 0; i < shown; ++i) {
      if (i > 0) out += ", ";
      AppendElement(At<T>(index), &out);
      for (size_t axis = extents_.size(); axis-- > 0;) {
        if (++index[axis] < extents_[axis]) break;
        index[axis] = 0;
      }
    }
  });
  if (shown < count) out += shown > 0 ? ", ..." : "...";
  return out + "}";
}

Tensor Stack(DType dtype, absl::Span<const int64_t> extents, absl::Span<const Tensor> parts) {
  Extents stacked = {static_cast<int64_t>(parts.size())};
  stacked.insert(stacked.end(), extents.begin(), extents.end());
  Tensor out(dtype, stacked);
  std::byte* to = out.raw_mutable_data();
  for (const Tensor& part : parts) {
    assert(part.dtype() == dtype && part.extents() == Extents(extents.begin(), extents.end()));
    part.CopyTo(to);
    to += part.num_bytes();
  }
  return out;
}

}  // namespace weir
