// Attributes: the compile-time parameters of a node. Immutable values; usable from any thread.
#ifndef WEIR_COMMON_IR_ATTR_H_
#define WEIR_COMMON_IR_ATTR_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/dim.h"
#include "common/tensor/dtype.h"
#include "common/tensor/tensor.h"

namespace weir {

using Int64s = std::vector<int64_t>;

// In text: true, 7, 0.5, "max", [1, 2], f32, (n, 3*n+1), f32[2] {1, 2}, ["a", "b"].
class Attr {
 public:
  // The order is the order of Value's alternatives.
  enum class Kind { kBool, kInt, kFloat, kString, kInts, kDType, kDims, kTensor, kStrings };
  using Value = std::variant<bool, int64_t, double, std::string, Int64s, DType, std::vector<Dim>,
                             Tensor, std::vector<std::string>>;

  Attr() : value_(false) {}
  Attr(bool v) : value_(v) {}                                 // NOLINT: attributes read as literals
  Attr(int v) : value_(static_cast<int64_t>(v)) {}            // NOLINT
  Attr(int64_t v) : value_(v) {}                              // NOLINT
  Attr(double v) : value_(v) {}                               // NOLINT
  Attr(const char* v) : value_(std::string(v)) {}             // NOLINT
  Attr(std::string v) : value_(std::move(v)) {}               // NOLINT
  Attr(Int64s v) : value_(std::move(v)) {}                    // NOLINT
  Attr(DType v) : value_(v) {}                                // NOLINT
  Attr(std::vector<Dim> v) : value_(std::move(v)) {}          // NOLINT
  Attr(const Shape& v) : value_(v.dims()) {}                  // NOLINT
  Attr(Tensor v) : value_(std::move(v)) {}                    // NOLINT
  Attr(std::vector<std::string> v) : value_(std::move(v)) {}  // NOLINT

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  const Value& value() const { return value_; }

  // REQUIRES: kind() fits (the op's attribute schema was checked).
  bool AsBool() const { return std::get<bool>(value_); }
  int64_t AsInt() const { return std::get<int64_t>(value_); }
  double AsFloat() const { return std::get<double>(value_); }
  const std::string& AsString() const { return std::get<std::string>(value_); }
  const Int64s& AsInts() const { return std::get<Int64s>(value_); }
  DType AsDType() const { return std::get<DType>(value_); }
  const std::vector<Dim>& AsDims() const { return std::get<std::vector<Dim>>(value_); }
  const Tensor& AsTensor() const { return std::get<Tensor>(value_); }
  const std::vector<std::string>& AsStrings() const {
    return std::get<std::vector<std::string>>(value_);
  }

  // Equal kind and value; tensors by bits.
  friend bool operator==(const Attr& a, const Attr& b);

 private:
  Value value_;
};

std::string_view AttrKindName(Attr::Kind kind);

// Attributes by name, in name order (the order of the text form).
using Attrs = std::map<std::string, Attr, std::less<>>;

}  // namespace weir

#endif  // WEIR_COMMON_IR_ATTR_H_
