#include "worker/device/cpu/nn/convolution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "common/base/status.h"
#include "common/ops/nn/convolution.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/contraction/compute_type.h"
#include "worker/device/cpu/contraction/convolve.h"
#include "worker/device/cpu/epilogue.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

constexpr int kMaxSpace = 3;

// Tables by sizes. A model has few sizes; one that has many starts over from time to time.
class TableCache {
 public:
  TableCache(int lanes, int64_t block_rows) : lanes_(lanes), block_rows_(block_rows) {}

  std::shared_ptr<const ConvolveTables> Find(const ConvolveSizes& sizes) {
    absl::MutexLock lock(&mutex_);
    for (const Entry& entry : entries_) {
      if (std::equal(entry.sizes.axes, entry.sizes.axes + kMaxSpace, sizes.axes) &&
          entry.sizes.in_channels == sizes.in_channels &&
          entry.sizes.out_channels == sizes.out_channels) {
        return entry.tables;
      }
    }
    if (entries_.size() == kMaxEntries) entries_.clear();
    entries_.push_back({sizes, std::make_shared<const ConvolveTables>(sizes, lanes_, block_rows_)});
    return entries_.back().tables;
  }

 private:
  static constexpr size_t kMaxEntries = 64;
  struct Entry {
    ConvolveSizes sizes;
    std::shared_ptr<const ConvolveTables> tables;
  };
  const int lanes_;
  const int64_t block_rows_;
  absl::Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

// Extents or strides of [a, b, space...] as [a, b, depth, height, width].
struct FiveAxes {
  FiveAxes(absl::Span<const int64_t> values, int64_t fill) {
    std::fill(at, at + 5, fill);
    at[0] = values[0];
    at[1] = values[1];
    std::copy(values.begin() + 2, values.end(), at + 7 - values.size());
  }
  int64_t at[5];
};

// The result as [batch, channels, space...]: leading axes, of which there may be several behind a
// reshape, as one.
struct ResultAxes {
  Extents strides;
  bool in_place = true;  // the leading axes run as one
};

ResultAxes ResultAxesOf(const View& result, int rank) {
  ResultAxes axes;
  const int leading = result.rank() - (rank - 1);
  int64_t batch = 0, span = -1;
  for (int axis = leading - 1; axis >= 0; --axis) {
    if (result.extents[axis] == 1) continue;
    if (span < 0) {
      batch = result.strides[axis];
    } else if (result.strides[axis] != span) {
      axes.in_place = false;
    }
    span = result.strides[axis] * result.extents[axis];
  }
  axes.strides.push_back(batch);
  axes.strides.insert(axes.strides.end(), result.strides.begin() + leading, result.strides.end());
  return axes;
}

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const KernelRequest& request, DType compute)
      : convolution_(Convolution::Of(request.node())),
        rank_(request.graph->type(request.node().inputs[0]).rank()),
        dtype_(request.result_type(0).dtype),
        compute_(compute),
        isa_(request.isa),
        epilogue_(EpilogueOf(*request.graph, request.nodes)),
        lanes_(VisitComputeType(compute,
                                [&]<class T>(T) { return TileLoopsFor<T>(request.isa).lanes; })),
        tables_(lanes_, VisitComputeType(compute, [&]<class T>(T) {
                  return BlockRows(TileLoopsFor<T>(request.isa));
                })) {
    name_ = "convolve";
    if (epilogue_.bias.valid()) name_ += "+bias";
    if (epilogue_.relu) name_ += "+relu";
    if (!epilogue_.pool.empty()) name_ += "+max_pool";
    std::copy(epilogue_.pool.begin(), epilogue_.pool.end(),
              pool_ + kMaxSpace - epilogue_.pool.size());
    in_operand_ = request.PlaceOf(request.node().inputs[0]);
    filter_operand_ = request.PlaceOf(request.node().inputs[1]);
    if (epilogue_.bias.valid()) bias_operand_ = request.PlaceOf(epilogue_.bias);
    PackConstantFilters(request);
  }

  std::string_view name() const override { return name_; }
  size_t resident_bytes() const override { return packed_bytes_; }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View> results,
                        int index) const override {
    AxisOrder order = RowMajorOrder(results[index].rank());
    const auto channels = order.end() - (rank_ - 1);
    const absl::StatusOr<ConvolveSizes> sizes = Sizes(operands, BatchOf(results[index]));
    if (!sizes.ok()) return order;
    const bool rows = VisitComputeType(
        compute_, [&]<class T>(T) { return RowsInLanes(TileLoopsFor<T>(isa_), *sizes); });
    if (rows) {
      std::rotate(order.begin(), channels, order.end());
    } else {
      std::rotate(channels, channels + 1, order.end());
    }
    return order;
  }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    const absl::StatusOr<ConvolveSizes> sizes = Sizes(operands, BatchOf(results[0]));
    if (!sizes.ok()) return 0;
    return VisitComputeType(compute_, [&]<class T>(T) {
      size_t bytes = Padded(ConvolveScratch(TileLoopsFor<T>(isa_), *sizes)) +
                     BiasBytes(operands[filter_operand_], sizeof(T));
      if (packed_ == nullptr) bytes += Padded(PackedFilterElements(*sizes, lanes_) * sizeof(T));
      if (!ComputesInPlace(dtype_)) {
        for (int i : {in_operand_, filter_operand_}) {
          const size_t count = NumElements(operands[i].extents);
          bytes += Padded(count * sizeof(T)) + Padded(count * SizeOf(dtype_));
        }
      }
      if (IsStaged(results[0])) {
        const size_t count = NumElements(results[0].extents);
        bytes += Padded(count * sizeof(T)) + Padded(count * SizeOf(dtype_));
      }
      return bytes;
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    if (NumElements(call.results[0].extents) == 0) return absl::OkStatus();
    WEIR_ASSIGN_OR_RETURN(const ConvolveSizes sizes,
                          Sizes(call.operands, BatchOf(call.results[0])));
    VisitComputeType(compute_, [&]<class T>(T) { RunAs<T>(call, sizes); });
    return absl::OkStatus();
  }

 private:
  int64_t BatchOf(const View& result) const {
    return NumElements(result.extents.first(result.rank() - (rank_ - 1)));
  }
  bool IsStaged(const View& result) const {
    return !ComputesInPlace(dtype_) || !ResultAxesOf(result, rank_).in_place;
  }

  // The numbers of groups follow from the extents, also where they are symbols.
  absl::StatusOr<ConvolveSizes> Sizes(absl::Span<const View> operands, int64_t out_batch) const {
    const FiveAxes in(operands[in_operand_].extents, 1);
    const FiveAxes filters(operands[filter_operand_].extents, 1);
    const int64_t batches =
        convolution_.batch_groups == Dim(1) || out_batch == 0 ? 1 : in.at[0] / out_batch;
    int64_t features = 1;
    if (convolution_.feature_groups.is_number()) {
      features = convolution_.feature_groups.number();
    } else if (filters.at[1] > 0) {
      features = in.at[1] / filters.at[1];
    }
    const int64_t groups = features * batches;
    if (groups < 1 || filters.at[0] % groups != 0 || in.at[0] % batches != 0 ||
        filters.at[1] * features != in.at[1]) {
      return InvalidArgument("an input of ", ExtentsToString(operands[in_operand_].extents),
                             " and a kernel of ",
                             ExtentsToString(operands[filter_operand_].extents),
                             " do not split into ", groups, " groups");
    }
    ConvolveSizes sizes;
    sizes.batch = in.at[0] / batches;
    sizes.groups = groups;
    sizes.in_channels = filters.at[1];
    sizes.out_channels = filters.at[0] / groups;
    const int first = kMaxSpace - (rank_ - 2);
    for (int i = 0; i < kMaxSpace; ++i) {
      WindowSpan& span = sizes.axes[i];
      span.in = in.at[2 + i];
      span.window = filters.at[2 + i];
      if (i < first) continue;
      const WindowAxis& axis = convolution_.window[i - first];
      span.stride = axis.stride;
      span.pad = axis.padding_low;
      span.in_dilation = axis.base_dilation;
      span.window_dilation = axis.window_dilation;
      span.out = axis.OutputExtent(span.in, span.window).number();
    }
    return sizes;
  }

  void PackConstantFilters(const KernelRequest& request) {
    const Tensor* filters = request.constant(filter_operand_);
    const TensorType& in = request.operand_type(in_operand_);
    if (filters == nullptr || !ComputesInPlace(dtype_)) return;
    // The batch may be symbolic, all else must be known.
    View operands[2];
    Extents extents = {1};
    for (int axis = 1; axis < in.rank(); ++axis) {
      if (!in.shape[axis].is_number()) return;
      extents.push_back(in.shape[axis].number());
    }
    if (convolution_.batch_groups != Dim(1) || !convolution_.feature_groups.is_number()) return;
    operands[in_operand_].extents = extents;
    operands[filter_operand_] = ViewOf(*filters);
    const absl::StatusOr<ConvolveSizes> sizes = Sizes(operands, /*out_batch=*/1);
    if (!sizes.ok()) return;
    tables_.Find(*sizes);
    VisitComputeType(compute_, [&]<class T>(T) {
      packed_bytes_ = PackedFilterElements(*sizes, lanes_) * sizeof(T);
      packed_ = Buffer::Allocate(packed_bytes_);
      PackFilters(*sizes, FiltersOf<T>(operands[filter_operand_]), lanes_,
                  reinterpret_cast<T*>(packed_->data()));
    });
  }

  size_t BiasBytes(const View& filters, int64_t compute_bytes) const {
    if (!epilogue_.bias.valid()) return 0;
    return Padded((filters.extents[0] + kMaxTileLanes) * compute_bytes);
  }

  template <class T>
  static Filters<T> FiltersOf(const View& view) {
    const FiveAxes strides(view.strides, 0);
    return {view.as<const T>(),
            strides.at[0],
            strides.at[1],
            {strides.at[2], strides.at[3], strides.at[4]}};
  }

  template <class T>
  static Images<T> ImagesOf(T* data, absl::Span<const int64_t> strides) {
    const FiveAxes five(strides, 0);
    return {data, five.at[0], 0, five.at[1], {five.at[2], five.at[3], five.at[4]}};
  }

  // The operand in its own memory, or widened into scratch; `strides` keeps what the view points
  // to.
  template <class T>
  View Prepare(const View& view, Extents* strides, Scratch* scratch) const {
    if (ComputesInPlace(dtype_)) return view;
    *strides = RowMajorStrides(view.extents);
    const int64_t count = NumElements(view.extents);
    std::byte* dense = scratch->Take<std::byte>(count * SizeOf(dtype_));
    CopyStrided(dtype_, view.extents, view.data, view.strides, dense, *strides);
    T* wide = scratch->Take<T>(count);
    Widen(dtype_, dense, count, wide);
    return {wide, compute_, view.extents, *strides};
  }

  template <class T>
  const T* Bias(const KernelCall& call, Scratch* scratch) const {
    if (!epilogue_.bias.valid()) return nullptr;
    const View& bias = call.operands[bias_operand_];
    const int64_t count = bias.extents[epilogue_.bias_axis];
    T* row = scratch->Take<T>(count + kMaxTileLanes);
    for (int64_t i = 0; i < count; ++i) {
      row[i] = bias.as<T>()[i * bias.strides[epilogue_.bias_axis]];
    }
    std::fill(row + count, row + count + kMaxTileLanes, T{0});
    return row;
  }

  template <class T>
  void RunAs(const KernelCall& call, const ConvolveSizes& sizes) const {
    Scratch scratch(call.scratch);
    Extents in_strides, filter_strides;
    const View in = Prepare<T>(call.operands[in_operand_], &in_strides, &scratch);
    const View filters = Prepare<T>(call.operands[filter_operand_], &filter_strides, &scratch);
    const std::shared_ptr<const ConvolveTables> tables = tables_.Find(sizes);
    ConvolveArgs<T> args;
    args.sizes = sizes;
    args.tables = tables.get();
    args.in = ImagesOf<const T>(in.as<const T>(), in.strides);
    const bool by_batch = in.extents[1] == sizes.in_channels && sizes.groups > 1;
    args.in.group = by_batch ? sizes.batch * args.in.batch : sizes.in_channels * args.in.channel;
    args.filters = PackedFor<T>(sizes, filters, &scratch);
    args.bias = Bias<T>(call, &scratch);
    args.activation = epilogue_.relu ? Activation::kRelu : Activation::kNone;
    std::copy(pool_, pool_ + kMaxSpace, args.pool);
    const View& result = call.results[0];
    const ResultAxes axes = ResultAxesOf(result, rank_);
    const int64_t count = NumElements(result.extents);
    const Extents dense = RowMajorStrides(result.extents);
    T* staged = nullptr;
    if (IsStaged(result)) {
      staged = scratch.Take<T>(count);
      View view = result;
      view.strides = dense;
      args.out = ImagesOf<T>(staged, ResultAxesOf(view, rank_).strides);
    } else {
      args.out = ImagesOf<T>(result.as<T>(), axes.strides);
    }
    args.out.group = sizes.out_channels * args.out.channel;
    Convolve(TileLoopsFor<T>(isa_), args,
             scratch.Take<std::byte>(ConvolveScratch(TileLoopsFor<T>(isa_), sizes)));
    if (staged == nullptr) return;
    const void* from = staged;
    if (!ComputesInPlace(dtype_)) {
      std::byte* stored = scratch.Take<std::byte>(count * SizeOf(dtype_));
      Narrow(dtype_, staged, count, stored);
      from = stored;
    }
    CopyStrided(dtype_, result.extents, from, dense, result.data, result.strides);
  }

  template <class T>
  const T* PackedFor(const ConvolveSizes& sizes, const View& filters, Scratch* scratch) const {
    if (packed_ != nullptr) return reinterpret_cast<const T*>(packed_->data());
    T* packed = scratch->Take<T>(PackedFilterElements(sizes, lanes_));
    PackFilters(sizes, FiltersOf<T>(filters), lanes_, packed);
    return packed;
  }

  static constexpr int64_t kMaxTileLanes = 64;

  const Convolution convolution_;
  const int rank_;
  const DType dtype_, compute_;
  const Isa isa_;
  const Epilogue epilogue_;
  const int lanes_;
  std::string name_;
  int64_t pool_[kMaxSpace] = {1, 1, 1};
  int in_operand_ = 0, filter_operand_ = 0, bias_operand_ = 0;
  std::shared_ptr<Buffer> packed_;
  size_t packed_bytes_ = 0;
  mutable TableCache tables_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeConvolution(const KernelRequest& request) {
  const DType dtype = request.graph->type(request.node().inputs[0]).dtype;
  const std::optional<DType> compute = ComputeType(dtype);
  if (!compute.has_value()) {
    return absl::UnimplementedError(StrCat("no tile loops for ", DTypeName(dtype)));
  }
  return std::unique_ptr<Kernel>(new ConvolutionKernel(request, *compute));
}

}  // namespace weir::cpu
