// Shapes: `Extents` are the numbers of one run, `Shape` is what a program knows (symbols allowed),
// `TensorType` adds the element type. Immutable in use; usable from any thread.
//
//   TensorType t{DType::kF32, Shape({Dim::Symbol("n"), 8, 8})};
//   t.ToString();                                  // "f32[n,8,8]"
#ifndef WEIR_COMMON_TENSOR_SHAPE_H_
#define WEIR_COMMON_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/tensor/dim.h"
#include "common/tensor/dtype.h"

namespace weir {

// Extents (or strides, or an index) of up to six axes without allocation.
using Extents = absl::InlinedVector<int64_t, 6>;

// Ranks above this are refused wherever a shape comes from outside (files, text, the wire).
inline constexpr int kMaxRank = 32;

// Product of the extents; 1 for rank 0. REQUIRES: extents non-negative, product fits (see
// CheckedNumElements).
int64_t NumElements(absl::Span<const int64_t> extents);
// Returns: the product, or an error for a negative extent or more than 2^62 bytes at `dtype`
// (extents of 0 do not excuse the others: strides must fit too).
absl::StatusOr<int64_t> CheckedNumElements(absl::Span<const int64_t> extents, DType dtype);
std::string ExtentsToString(absl::Span<const int64_t> extents);  // "[2,3]"
// Returns: element strides of the row-major order.
Extents RowMajorStrides(absl::Span<const int64_t> extents);

// A list of dimensions of known rank.
class Shape {
 public:
  Shape() = default;  // rank 0
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  static Shape FromExtents(absl::Span<const int64_t> extents);

  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](int axis) const { return dims_[axis]; }
  Dim& operator[](int axis) { return dims_[axis]; }
  const std::vector<Dim>& dims() const { return dims_; }
  std::vector<Dim>& dims() { return dims_; }

  bool is_static() const;   // every dimension is a number
  Extents extents() const;  // REQUIRES: is_static()
  Dim num_elements() const;
  absl::StatusOr<Extents> Evaluate(const SymbolBindings& bindings) const;
  Shape Substitute(const std::map<std::string, Dim, std::less<>>& symbols) const;
  void CollectSymbols(std::set<std::string, std::less<>>* out) const;

  friend bool operator==(const Shape&, const Shape&) = default;
  std::string ToString() const;  // "[n,8,8]"

 private:
  std::vector<Dim> dims_;
};

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  int rank() const { return shape.rank(); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
  std::string ToString() const;  // "f32[n,8,8]"
  static absl::StatusOr<TensorType> Parse(std::string_view text);
};

// Binds the symbols of `shape` so that it evaluates to `extents`; lone symbols bind, everything
// else is checked; unknown dimensions fit anything. Returns: an error naming both shapes when rank
// or an extent disagrees; `bindings` may then hold some of the new symbols. `what` names the value
// in the error.
absl::Status BindShape(const Shape& shape, absl::Span<const int64_t> extents, std::string_view what,
                       SymbolBindings* bindings);

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_SHAPE_H_
