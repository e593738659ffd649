// A tensor value: element type, extents, and a strided view of a shared buffer. Copies share
// memory. A tensor is immutable once it is visible to anyone but its maker; reading is then safe
// from any thread.
//
//   Tensor t = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
//   t.Transpose({1, 0}).At<float>({2, 1});             // 6, without a copy
#ifndef WEIR_COMMON_TENSOR_TENSOR_H_
#define WEIR_COMMON_TENSOR_TENSOR_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/tensor/buffer.h"
#include "common/tensor/dtype.h"
#include "common/tensor/shape.h"

namespace weir {

class Tensor {
 public:
  Tensor() = default;  // f32 scalar without memory; assign before use
  // Uninitialized row-major tensor. REQUIRES: extents non-negative and in range
  // (CheckedNumElements).
  Tensor(DType dtype, absl::Span<const int64_t> extents);
  // The same for extents from outside. Returns: an error when they are out of range or memory is
  // short.
  static absl::StatusOr<Tensor> TryCreate(DType dtype, absl::Span<const int64_t> extents);
  // A view. Offset and strides count elements; strides may be zero or negative.
  Tensor(DType dtype, absl::Span<const int64_t> extents, absl::Span<const int64_t> strides,
         int64_t offset, std::shared_ptr<Buffer> buffer);

  static Tensor Zeros(DType dtype, absl::Span<const int64_t> extents);
  template <class T>
  static Tensor Scalar(T value);
  template <class T>
  static Tensor Of(std::initializer_list<int64_t> extents, std::initializer_list<T> values);
  template <class T>
  static Tensor FromSpan(absl::Span<const int64_t> extents, absl::Span<const T> values);

  DType dtype() const { return dtype_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  const Extents& extents() const { return extents_; }
  int64_t extent(int axis) const { return extents_[axis]; }
  const Extents& strides() const { return strides_; }
  int64_t offset() const { return offset_; }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  int64_t num_elements() const { return NumElements(extents_); }
  int64_t num_bytes() const { return num_elements() * SizeOf(dtype_); }  // of a dense copy
  TensorType type() const { return {dtype_, Shape::FromExtents(extents_)}; }

  // Row-major and without gaps (extents of one and empty tensors count as such).
  bool is_contiguous() const;
  // This, if contiguous, else a row-major copy.
  Tensor Contiguous() const;
  // A row-major copy with memory of its own.
  Tensor Clone() const;

  // First element. REQUIRES: T stores dtype().
  template <class T>
  const T* data() const;
  // REQUIRES: nobody else can see this tensor yet.
  template <class T>
  T* mutable_data();
  const std::byte* raw_data() const;
  std::byte* raw_mutable_data();
  template <class T>
  const T& At(absl::Span<const int64_t> index) const;
  template <class T>
  const T& At(std::initializer_list<int64_t> index) const {
    return At<T>(absl::MakeConstSpan(index.begin(), index.size()));
  }

  // Views (no copy). REQUIRES: arguments in range, as the op of the same name demands.
  Tensor Transpose(absl::Span<const int> permutation) const;
  Tensor Slice(absl::Span<const int64_t> start, absl::Span<const int64_t> limit,
               absl::Span<const int64_t> stride) const;
  // Rows [begin, end) of axis 0.
  Tensor Rows(int64_t begin, int64_t end) const;
  // Row `index` of axis 0, with that axis gone.
  Tensor Row(int64_t index) const;
  Tensor Reverse(absl::Span<const int> axes) const;
  // Operand axis i becomes result axis axes[i]; the other result axes repeat (stride 0).
  Tensor BroadcastInDim(absl::Span<const int64_t> extents, absl::Span<const int> axes) const;
  // A view, or nothing where strides do not allow one. REQUIRES: equal number of elements.
  std::optional<Tensor> TryReshape(absl::Span<const int64_t> extents) const;
  // A view where strides allow it, else a copy. REQUIRES: equal number of elements.
  Tensor Reshape(absl::Span<const int64_t> extents) const;

  // Writes this into row-major memory of num_bytes() bytes.
  void CopyTo(void* out) const;

  // Equal dtype, extents and bits.
  bool BitEquals(const Tensor& other) const;
  // "f32[2,3] {1, 2, 3, 4, 5, 6}", cut after `limit` elements.
  std::string ToString(int64_t limit = 32) const;

 private:
  DType dtype_ = DType::kF32;
  Extents extents_;
  Extents strides_;
  int64_t offset_ = 0;
  std::shared_ptr<Buffer> buffer_;
};

// Stacks tensors of one type along a new axis 0. REQUIRES: equal dtypes and extents; with no parts,
// `dtype` and `extents` of one part say what the empty result looks like.
Tensor Stack(DType dtype, absl::Span<const int64_t> extents, absl::Span<const Tensor> parts);

template <class T>
const T* Tensor::data() const {
  return reinterpret_cast<const T*>(raw_data());
}

template <class T>
T* Tensor::mutable_data() {
  return reinterpret_cast<T*>(raw_mutable_data());
}

template <class T>
const T& Tensor::At(absl::Span<const int64_t> index) const {
  int64_t position = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) position += index[axis] * strides_[axis];
  return data<T>()[position];
}

template <class T>
Tensor Tensor::FromSpan(absl::Span<const int64_t> extents, absl::Span<const T> values) {
  Tensor out(kDTypeOf<T>, extents);
  std::copy(values.begin(), values.end(), out.mutable_data<T>());
  return out;
}

template <class T>
Tensor Tensor::Scalar(T value) {
  return FromSpan<T>({}, absl::MakeConstSpan(&value, 1));
}

template <class T>
Tensor Tensor::Of(std::initializer_list<int64_t> extents, std::initializer_list<T> values) {
  Tensor out(kDTypeOf<T>, absl::MakeConstSpan(extents.begin(), extents.size()));
  std::copy(values.begin(), values.end(), out.mutable_data<T>());
  return out;
}

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_TENSOR_H_
