#include "worker/device/cpu/test_launch.h"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "common/tensor/copy.h"
#include "gtest/gtest.h"
#include "worker/device/cpu/reference_kernel.h"
#include "worker/device/cpu/registry.h"

namespace weir::cpu {
namespace {

Extents StridesFor(absl::Span<const int64_t> extents, Lie lie) {
  Extents strides = RowMajorStrides(extents);
  if (lie == Lie::kReversed) {
    AxisOrder order = RowMajorOrder(static_cast<int>(extents.size()));
    std::reverse(order.begin(), order.end());
    return StridesInOrder(extents, order);
  }
  if (lie == Lie::kSpread) {
    for (int64_t& stride : strides) stride *= 3;
  }
  return strides;
}

// Every byte that no element covers keeps this pattern.
constexpr int kGap = 0x5a;

Tensor Place(DType dtype, absl::Span<const int64_t> extents, const Extents& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    last += std::max<int64_t>(extents[i] - 1, 0) * strides[i];
  }
  auto buffer = Buffer::Allocate((last + 1) * SizeOf(dtype));
  std::memset(buffer->data(), kGap, buffer->size());
  return Tensor(dtype, extents, strides, 0, std::move(buffer));
}

using Values = absl::flat_hash_map<ValueId, Tensor>;

absl::Status RunOne(const Graph& graph, const Launch& launch, const RunOptions& options,
                    const SymbolBindings& symbols, bool reference, Values* values,
                    std::vector<std::string>* kernels) {
  std::vector<View> operands;
  std::vector<const Tensor*> constants;
  for (ValueId value : launch.operands) {
    operands.push_back(ViewOf(values->at(value)));
    const Node* producer = graph.producer(value);
    const bool constant = (producer != nullptr && producer->op == "constant") ||
                          (options.constant_rhs && value != launch.operands[0]);
    constants.push_back(constant ? &values->at(value) : nullptr);
  }
  KernelRequest request{&graph,         launch.nodes, launch.operands,
                        launch.results, constants,    options.isa};
  WEIR_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel,
                        reference ? MakeReference(request) : MakeKernel(request));
  if (kernels != nullptr) kernels->push_back(std::string(kernel->name()));
  std::vector<Tensor> results;
  for (ValueId value : launch.results) {
    WEIR_ASSIGN_OR_RETURN(const Extents extents, graph.type(value).shape.Evaluate(symbols));
    results.push_back(
        Place(graph.type(value).dtype, extents, StridesFor(extents, options.results)));
  }
  std::vector<View> views;
  for (const Tensor& result : results) views.push_back(ViewOf(result));
  for (size_t r = 0; r < results.size() && options.results == Lie::kPreferred; ++r) {
    const AxisOrder order = kernel->ResultOrder(operands, views, static_cast<int>(r));
    results[r] = Place(results[r].dtype(), results[r].extents(),
                       StridesInOrder(results[r].extents(), order));
    views[r] = ViewOf(results[r]);
  }
  // Scratch ends where it was booked to end, so that a sanitizer sees what goes beyond.
  const size_t booked = kernel->ScratchBytes(operands, views);
  std::unique_ptr<std::byte, void (*)(void*)> scratch(
      static_cast<std::byte*>(std::aligned_alloc(64, (booked + 63) / 64 * 64)), &std::free);
  WEIR_RETURN_IF_ERROR(
      kernel->Run({operands, views, absl::MakeSpan(scratch.get(), booked), &symbols}));
  for (size_t r = 0; r < results.size(); ++r) values->emplace(launch.results[r], results[r]);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> RunAll(const Graph& graph, const std::vector<Tensor>& inputs,
                                           const RunOptions& options, bool reference,
                                           std::vector<std::string>* kernels) {
  const Region& body = graph.region(graph.entry().body);
  SymbolBindings symbols;
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEIR_RETURN_IF_ERROR(
        BindShape(graph.type(body.args[i]).shape, inputs[i].extents(), "input", &symbols));
    values.emplace(body.args[i], LaidOut(inputs[i], options.operands));
  }
  std::vector<Launch> launches;
  if (reference) {
    for (NodeId id : body.nodes) {
      Launch launch{{id}, {}, graph.node(id).outputs};
      for (ValueId value : graph.node(id).inputs) {
        if (std::find(launch.operands.begin(), launch.operands.end(), value) ==
            launch.operands.end()) {
          launch.operands.push_back(value);
        }
      }
      launches.push_back(std::move(launch));
    }
  } else {
    launches = FormLaunches(graph, graph.entry().body);
  }
  for (const Launch& launch : launches) {
    WEIR_RETURN_IF_ERROR(RunOne(graph, launch, options, symbols, reference, &values, kernels));
  }
  std::vector<Tensor> results;
  for (ValueId result : body.results) results.push_back(values.at(result).Contiguous());
  return results;
}

// Distance in units of the last place of `want`, as far as doubles can say.
template <class T>
bool Close(T got, T want, double ulp, double absolute) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
    if (got == want) return ulp > 0 || absolute > 0 || std::signbit(got) == std::signbit(want);
    const T unit =
        std::nextafter(std::abs(want), std::numeric_limits<T>::infinity()) - std::abs(want);
    return std::abs(static_cast<double>(got) - static_cast<double>(want)) <=
           ulp * static_cast<double>(unit) + absolute;
  } else {
    return got == want;
  }
}

template <class T>
bool CloseElements(T got, T want, double ulp, double absolute) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    // A unit of the narrow type is this many of float.
    const double units = std::is_same_v<T, Half> ? 1 << 13 : 1 << 16;
    return Close(static_cast<float>(got), static_cast<float>(want), ulp * units, absolute);
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    return Close(got.real(), want.real(), ulp, absolute) &&
           Close(got.imag(), want.imag(), ulp, absolute);
  } else {
    return Close(got, want, ulp, absolute);
  }
}

}  // namespace

Tensor LaidOut(const Tensor& tensor, Lie lie) {
  Tensor out = Place(tensor.dtype(), tensor.extents(), StridesFor(tensor.extents(), lie));
  CopyStrided(tensor.dtype(), tensor.extents(), tensor.raw_data(), tensor.strides(),
              out.raw_mutable_data(), out.strides());
  return out;
}

absl::StatusOr<std::vector<Tensor>> RunLaunches(const Graph& graph,
                                                const std::vector<Tensor>& inputs,
                                                const RunOptions& options,
                                                std::vector<std::string>* kernels) {
  return RunAll(graph, inputs, options, /*reference=*/false, kernels);
}

absl::StatusOr<std::vector<Tensor>> RunReference(const Graph& graph,
                                                 const std::vector<Tensor>& inputs) {
  return RunAll(graph, inputs, {}, /*reference=*/true, nullptr);
}

std::string Difference(const Tensor& got, const Tensor& want, double ulp, double absolute) {
  if (got.dtype() != want.dtype() || got.extents() != want.extents()) {
    return StrCat("got ", got.type().ToString(), ", want ", want.type().ToString());
  }
  const Tensor a = got.Contiguous(), b = want.Contiguous();
  return VisitDType(got.dtype(), [&]<class T>(TypeTag<T>) -> std::string {
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      if (CloseElements(a.data<T>()[i], b.data<T>()[i], ulp, absolute)) continue;
      return StrCat("element ", i, ": got ", Tensor::Scalar<T>(a.data<T>()[i]).ToString(),
                    ", want ", Tensor::Scalar<T>(b.data<T>()[i]).ToString());
    }
    return "";
  });
}

}  // namespace weir::cpu
