#include "server/compiler/import/tensor_proto.h"

#include <onnx/onnx_pb.h>

#include <cctype>
#include <cstring>

#include "common/base/status.h"

namespace weir::onnx_import {
namespace {

// Typed fields: sixteen-bit floats and small integers come as int32.
template <class T>
bool CopyField(const onnx::TensorProto& proto, Tensor* out) {
  T* data = out->mutable_data<T>();
  const int64_t count = out->num_elements();
  auto copy = [&](const auto& field, auto convert) {
    if (field.size() != count) return false;
    for (int64_t k = 0; k < count; ++k) data[k] = convert(field.Get(static_cast<int>(k)));
    return true;
  };
  auto plain = [](auto x) { return static_cast<T>(x); };
  if constexpr (std::is_same_v<T, float>) {
    return copy(proto.float_data(), plain);
  } else if constexpr (std::is_same_v<T, double>) {
    return copy(proto.double_data(), plain);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return copy(proto.int64_data(), plain);
  } else if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, uint32_t>) {
    return copy(proto.uint64_data(), plain);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return copy(proto.int32_data(),
                [](int32_t bits) { return T::FromBits(static_cast<uint16_t>(bits)); });
  } else if constexpr (std::is_integral_v<T>) {
    return copy(proto.int32_data(), plain);
  } else {
    return false;
  }
}

std::string Identifier(const std::string& name, const std::string& prefix) {
  std::string out;
  for (const char c : name) {
    out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = prefix + out;
  return out.substr(0, 64);
}

}  // namespace

absl::StatusOr<DType> DTypeOf(int onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    case onnx::TensorProto::INT8:
      return DType::kI8;
    case onnx::TensorProto::INT16:
      return DType::kI16;
    case onnx::TensorProto::INT32:
      return DType::kI32;
    case onnx::TensorProto::INT64:
      return DType::kI64;
    case onnx::TensorProto::UINT8:
      return DType::kU8;
    case onnx::TensorProto::UINT16:
      return DType::kU16;
    case onnx::TensorProto::UINT32:
      return DType::kU32;
    case onnx::TensorProto::UINT64:
      return DType::kU64;
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBF16;
    case onnx::TensorProto::FLOAT:
      return DType::kF32;
    case onnx::TensorProto::DOUBLE:
      return DType::kF64;
    case onnx::TensorProto::COMPLEX64:
      return DType::kC64;
    case onnx::TensorProto::COMPLEX128:
      return DType::kC128;
    default:
      return absl::UnimplementedError(StrCat("ONNX element type ", onnx_type));
  }
}

absl::StatusOr<Tensor> TensorOf(const onnx::TensorProto& proto) {
  const std::string name = StrCat("tensor '", proto.name(), "'");
  absl::StatusOr<DType> dtype = DTypeOf(proto.data_type());
  WEIR_RETURN_IF_ERROR(Annotate(dtype.status(), name));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::UnimplementedError(StrCat(name, " is stored outside of the model"));
  }
  const Extents extents(proto.dims().begin(), proto.dims().end());
  absl::StatusOr<int64_t> elements = CheckedNumElements(extents, *dtype);
  WEIR_RETURN_IF_ERROR(Annotate(elements.status(), name));
  const int64_t bytes = *elements * SizeOf(*dtype);
  // Nothing is allocated for what did not come.
  const int64_t came = static_cast<int64_t>(proto.ByteSizeLong());
  if (bytes > 16 * came + 64) {
    return InvalidArgument(name, " of ", bytes, " bytes comes with ", came);
  }
  Tensor out(*dtype, extents);
  if (proto.has_raw_data()) {
    if (static_cast<int64_t>(proto.raw_data().size()) != bytes) {
      return InvalidArgument(name, " ", ExtentsToString(extents), " has ", proto.raw_data().size(),
                             " bytes in place of ", bytes);
    }
    if (bytes > 0) std::memcpy(out.raw_mutable_data(), proto.raw_data().data(), bytes);
    if (*dtype == DType::kBool) {
      for (int64_t k = 0; k < bytes; ++k) {
        std::byte& b = out.raw_mutable_data()[k];
        b = b == std::byte{0} ? std::byte{0} : std::byte{1};
      }
    }
    return out;
  }
  const bool copied =
      VisitDType(*dtype, [&]<class T>(TypeTag<T>) { return CopyField<T>(proto, &out); });
  if (!copied) {
    return InvalidArgument(name, " ", ExtentsToString(extents),
                           " does not have as many elements as its shape says");
  }
  return out;
}

absl::StatusOr<TensorType> TypeOf(const onnx::TypeProto& proto, const std::string& prefix) {
  if (!proto.has_tensor_type()) {
    return absl::UnimplementedError(
        "only tensors can be inputs; sequences, maps and optionals not");
  }
  TensorType type;
  WEIR_ASSIGN_OR_RETURN(type.dtype, DTypeOf(proto.tensor_type().elem_type()));
  if (!proto.tensor_type().has_shape()) {
    return absl::UnimplementedError("an input must say its rank");
  }
  int axis = 0;
  for (const onnx::TensorShapeProto::Dimension& dim : proto.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) {
      if (dim.dim_value() < 0) return InvalidArgument("dimension ", dim.dim_value());
      type.shape.dims().push_back(dim.dim_value());
    } else {
      const std::string fresh = StrCat(prefix, "_", axis);
      type.shape.dims().push_back(Dim::Symbol(
          Identifier(dim.dim_param().empty() ? fresh : dim.dim_param(), Identifier(prefix, "d"))));
    }
    ++axis;
  }
  return type;
}

}  // namespace weir::onnx_import
