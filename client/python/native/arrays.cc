#include "client/python/native/arrays.h"

#include <pybind11/stl.h>

#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "client/python/native/dims.h"
#include "client/python/native/errors.h"
#include "common/base/status.h"
#include "common/ops/registry.h"

namespace py = pybind11;

namespace weir::python {
namespace {

// Below this a copy costs less than keeping the array, or the tensor.
constexpr size_t kSharedBytes = size_t{64} << 10;
constexpr int64_t kKeptBytes = 4 << 10;
constexpr uintptr_t kPageBytes = 4096;

// Kernels may read one vector from the last element on. That stays inside the array's last page, or
// the array is copied.
bool MayReadPastEnd(const void* data, size_t bytes) {
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes) % kPageBytes;
  return last != 0 && last + Buffer::kAlignment <= kPageBytes;
}

std::shared_ptr<Buffer> Share(const py::array& array) {
  auto* owner = new py::object(array);
  return Buffer::Wrap(const_cast<void*>(array.data()), static_cast<size_t>(array.nbytes()),
                      [owner] {
                        // The last holder may be a thread of the cluster.
                        if (Py_IsInitialized() == 0) return;
                        py::gil_scoped_acquire lock;
                        delete owner;
                      });
}

std::string NumpyName(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "?";
    case DType::kBF16:
    case DType::kF32:
      return "f4";
    case DType::kF16:
      return "f2";
    case DType::kF64:
      return "f8";
    case DType::kC64:
      return "c8";
    case DType::kC128:
      return "c16";
    default:
      return std::string(IsSigned(dtype) ? "i" : "u") + std::to_string(SizeOf(dtype));
  }
}

// NumPy has one object for each of its own types in native byte order. Never freed: the interpreter
// is gone before this module.
const py::dtype& NumpyType(DType dtype) {
  static const auto* types = [] {
    auto* made = new std::map<DType, py::dtype>;
    for (DType each : kAllDTypes) made->emplace(each, py::dtype(NumpyName(each)));
    return made;
  }();
  return types->at(dtype);
}

py::array Copied(const Tensor& tensor) {
  const std::vector<py::ssize_t> shape(tensor.extents().begin(), tensor.extents().end());
  py::array array(NumpyType(tensor.dtype()), shape);
  if (tensor.dtype() != DType::kBF16) {
    tensor.CopyTo(array.mutable_data());
    return array;
  }
  const Tensor dense = tensor.Contiguous();
  const BFloat16* from = dense.data<BFloat16>();
  auto* to = static_cast<float*>(array.mutable_data());
  for (int64_t i = 0; i < dense.num_elements(); ++i) to[i] = static_cast<float>(from[i]);
  return array;
}

Attr ToAttrOfKind(Attr::Kind kind, const py::handle& value) {
  switch (kind) {
    case Attr::Kind::kBool:
      return Attr(value.cast<bool>());
    case Attr::Kind::kInt:
      return Attr(value.cast<int64_t>());
    case Attr::Kind::kFloat:
      return Attr(value.cast<double>());
    case Attr::Kind::kString:
      return Attr(value.cast<std::string>());
    case Attr::Kind::kInts: {
      Int64s ints;
      for (const py::handle& item : value) ints.push_back(item.cast<int64_t>());
      return Attr(std::move(ints));
    }
    case Attr::Kind::kDType:
      return Attr(DTypeFromName(value.cast<std::string>()));
    case Attr::Kind::kDims:
      return Attr(ToDims(value));
    case Attr::Kind::kTensor:
      return Attr(ToTensor(py::reinterpret_borrow<py::array>(value)).Clone());
    case Attr::Kind::kStrings: {
      std::vector<std::string> texts;
      for (const py::handle& item : value) texts.push_back(item.cast<std::string>());
      return Attr(std::move(texts));
    }
  }
  __builtin_unreachable();
}

}  // namespace

void LoadNumpyTypes() { NumpyType(DType::kF32); }

DType DTypeFromName(const std::string& name) {
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype.has_value()) Raise(InvalidArgument("there is no element type '", name, "'"));
  return *dtype;
}

DType DTypeOf(const py::dtype& dtype) {
  for (DType candidate : kAllDTypes) {
    if (candidate != DType::kBF16 && NumpyType(candidate).is(dtype)) return candidate;
  }
  for (DType candidate : kAllDTypes) {
    if (candidate != DType::kBF16 && NumpyType(candidate).equal(dtype)) return candidate;
  }
  Raise(InvalidArgument("arrays of NumPy type ", py::repr(dtype).cast<std::string>(),
                        " cannot be used; convert them to bool, integers, floats or complex"));
}

Tensor ToTensor(const py::array& array) {
  const DType dtype = DTypeOf(array.dtype());
  const bool is_dense = (array.flags() & py::array::c_style) != 0;
  const py::array dense = is_dense ? array : py::array::ensure(array, py::array::c_style);
  if (!dense) throw py::error_already_set();
  const Extents extents(dense.shape(), dense.shape() + dense.ndim());
  RaiseIfError(CheckedNumElements(extents, dtype).status());
  const auto bytes = static_cast<size_t>(dense.nbytes());
  if (bytes >= kSharedBytes && MayReadPastEnd(dense.data(), bytes)) {
    return Tensor(dtype, extents, RowMajorStrides(extents), 0, Share(dense));
  }
  Tensor tensor = ValueOrRaise(Tensor::TryCreate(dtype, extents));
  if (bytes > 0) std::memcpy(tensor.raw_mutable_data(), dense.data(), bytes);
  return tensor;
}

py::array ToArray(const Tensor& tensor, Memory memory) {
  if (memory == Memory::kShared || tensor.dtype() == DType::kBF16 || !tensor.is_contiguous() ||
      tensor.num_bytes() < kKeptBytes) {
    return Copied(tensor);
  }
  auto* owner = new Tensor(tensor);
  const py::capsule release(owner, [](void* held) { delete static_cast<Tensor*>(held); });
  const std::vector<py::ssize_t> shape(tensor.extents().begin(), tensor.extents().end());
  return py::array(NumpyType(tensor.dtype()), shape, tensor.raw_data(), release);
}

std::vector<Dim> ToDims(const py::handle& dims) {
  std::vector<Dim> out;
  for (const py::handle& dim : dims) {
    if (py::isinstance<py::str>(dim)) {
      out.push_back(ValueOrRaise(Dim::Parse(dim.cast<std::string>())));
    } else {
      out.push_back(ToDim(dim));
    }
  }
  return out;
}

py::tuple FromShape(const Shape& shape) {
  py::tuple out(shape.rank());
  for (int i = 0; i < shape.rank(); ++i) out[i] = FromDim(shape[i]);
  return out;
}

absl::StatusOr<Attr> ToAttr(Attr::Kind kind, const py::handle& value) {
  try {
    return ToAttrOfKind(kind, value);
  } catch (const py::cast_error&) {
    return InvalidArgument("must be ", AttrKindName(kind), ", found ",
                           py::repr(value).cast<std::string>());
  }
}

Attr ToAttr(const std::string& op, const std::string& name, const py::handle& value) {
  const OpDef* def = FindOp(op);
  if (def == nullptr) Raise(InvalidArgument("there is no op '", op, "'"));
  for (const AttrDef& attr : def->attrs) {
    if (attr.name != name) continue;
    absl::StatusOr<Attr> converted = ToAttr(attr.kind, value);
    if (converted.ok()) return *std::move(converted);
    Raise(InvalidArgument("attribute '", name, "' of ", op, " ", converted.status().message()));
  }
  Raise(InvalidArgument("op ", op, " has no attribute '", name, "'"));
}

py::object FromAttr(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::kBool:
      return py::bool_(attr.AsBool());
    case Attr::Kind::kInt:
      return py::int_(attr.AsInt());
    case Attr::Kind::kFloat:
      return py::float_(attr.AsFloat());
    case Attr::Kind::kString:
      return py::str(attr.AsString());
    case Attr::Kind::kInts:
      return py::cast(std::vector<int64_t>(attr.AsInts().begin(), attr.AsInts().end()));
    case Attr::Kind::kDType:
      return py::str(std::string(DTypeName(attr.AsDType())));
    case Attr::Kind::kDims:
      return FromShape(Shape(attr.AsDims()));
    case Attr::Kind::kTensor:
      return ToArray(attr.AsTensor(), Memory::kShared);
    case Attr::Kind::kStrings:
      return py::cast(attr.AsStrings());
  }
  __builtin_unreachable();
}

}  // namespace weir::python
