// One case of the ONNX backend test suite: a model with one operator (or a small network), inputs,
// and the outputs that are expected. Plain values; usable from any thread.
#ifndef WEIR_TESTS_CONFORMANCE_ONNX_CASE_H_
#define WEIR_TESTS_CONFORMANCE_ONNX_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tensor/tensor.h"

namespace weir {

struct OnnxCase {
  std::string name;  // "node/test_abs"
  std::string folder;
};

// The cases of Debian's libonnx-testdata, sorted by name; empty if the package is missing.
std::vector<OnnxCase> AllOnnxCases();

absl::StatusOr<std::string> ReadBytes(const std::string& path);

// The tensors of `input_0.pb`, `input_1.pb`... (or `output`) of the case's first data set.
absl::StatusOr<std::vector<Tensor>> ReadCaseTensors(const OnnxCase& onnx_case,
                                                    const std::string& kind);

struct Closeness {
  double relative = 1e-3;
  double absolute = 1e-5;
};

// Returns: empty if dtypes and extents are equal and every element is within the bounds (NaN agrees
// with NaN), else the first difference.
std::string FarElement(const Tensor& got, const Tensor& want, const Closeness& closeness);

}  // namespace weir

#endif  // WEIR_TESTS_CONFORMANCE_ONNX_CASE_H_
