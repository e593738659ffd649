#include "tests/conformance/onnx_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/status.h"
#include "server/compiler/import/tensor_proto.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr char kData[] = "/usr/share/libonnx-testdata/data";
constexpr const char* kSuites[] = {"node", "simple", "pytorch-operator", "pytorch-converted"};

template <class T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
double Widened(T value) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
bool IsClose(T got, T want, const Closeness& closeness) {
  if constexpr (kIsComplex<T>) {
    return std::abs(got - want) <= closeness.absolute + closeness.relative * std::abs(want);
  } else if constexpr (std::is_integral_v<T>) {
    return got == want;
  } else {
    const double a = Widened(got);
    const double b = Widened(want);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::abs(a - b) <= closeness.absolute + closeness.relative * std::abs(b);
  }
}

}  // namespace

std::vector<OnnxCase> AllOnnxCases() {
  std::vector<OnnxCase> cases;
  for (const char* suite : kSuites) {
    std::error_code missing;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(kData) / suite, missing)) {
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      cases.push_back(
          {StrCat(suite, "/", entry.path().filename().string()), entry.path().string()});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot open ", path));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

absl::StatusOr<std::vector<Tensor>> ReadCaseTensors(const OnnxCase& onnx_case,
                                                    const std::string& kind) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = StrCat(onnx_case.folder, "/test_data_set_0/", kind, "_", i, ".pb");
    if (!fs::exists(path)) return tensors;
    WEIR_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(path));
    onnx::TensorProto proto;
    if (!proto.ParseFromString(bytes)) return InvalidArgument(path, " holds no tensor");
    absl::StatusOr<Tensor> tensor = onnx_import::TensorOf(proto);
    WEIR_RETURN_IF_ERROR(Annotate(tensor.status(), path));
    tensors.push_back(*std::move(tensor));
  }
}

std::string FarElement(const Tensor& got, const Tensor& want, const Closeness& closeness) {
  if (got.dtype() != want.dtype() || got.extents() != want.extents()) {
    return StrCat("got ", got.type().ToString(), ", want ", want.type().ToString());
  }
  const Tensor a = got.Contiguous();
  const Tensor b = want.Contiguous();
  return VisitDType(a.dtype(), [&]<class T>(TypeTag<T>) -> std::string {
    for (int64_t k = 0; k < a.num_elements(); ++k) {
      if (IsClose<T>(a.data<T>()[k], b.data<T>()[k], closeness)) continue;
      return StrCat("element ", k, " of ", a.num_elements(), " differs: got ", got.ToString(8),
                    ", want ", want.ToString(8));
    }
    return "";
  });
}

}  // namespace weir
