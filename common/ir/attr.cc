#include "common/ir/attr.h"

#include <bit>

namespace weir {

bool operator==(const Attr& a, const Attr& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Attr::Kind::kFloat:
      return std::bit_cast<uint64_t>(a.AsFloat()) == std::bit_cast<uint64_t>(b.AsFloat());
    case Attr::Kind::kTensor:
      return a.AsTensor().BitEquals(b.AsTensor());
    case Attr::Kind::kBool:
      return a.AsBool() == b.AsBool();
    case Attr::Kind::kInt:
      return a.AsInt() == b.AsInt();
    case Attr::Kind::kString:
      return a.AsString() == b.AsString();
    case Attr::Kind::kInts:
      return a.AsInts() == b.AsInts();
    case Attr::Kind::kDType:
      return a.AsDType() == b.AsDType();
    case Attr::Kind::kDims:
      return a.AsDims() == b.AsDims();
    case Attr::Kind::kStrings:
      return a.AsStrings() == b.AsStrings();
  }
  return false;
}

std::string_view AttrKindName(Attr::Kind kind) {
  switch (kind) {
    case Attr::Kind::kBool:
      return "bool";
    case Attr::Kind::kInt:
      return "int";
    case Attr::Kind::kFloat:
      return "float";
    case Attr::Kind::kString:
      return "string";
    case Attr::Kind::kInts:
      return "ints";
    case Attr::Kind::kDType:
      return "dtype";
    case Attr::Kind::kDims:
      return "dims";
    case Attr::Kind::kTensor:
      return "tensor";
    case Attr::Kind::kStrings:
      return "strings";
  }
  return "unknown";
}

}  // namespace weir
