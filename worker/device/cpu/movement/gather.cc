// gather and scatter: for each index vector one slice, moved as a block where it lies inside.
#include <algorithm>
#include <cstring>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/ops/combine.h"
#include "common/ops/movement/gather_dims.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/movement/movement.h"

namespace weir::cpu {
namespace {

// Indices may be anything; within these bounds sums with extents cannot overflow.
constexpr int64_t kFarIndex = int64_t{1} << 60;

int64_t ReadIndex(const View& indices, int64_t offset) {
  return VisitDType(indices.dtype, [&]<class T>(TypeTag<T>) -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      const T value = indices.as<T>()[offset];
      if constexpr (std::is_same_v<T, uint64_t>) {
        if (value > static_cast<uint64_t>(kFarIndex)) return kFarIndex;
      }
      return std::clamp<int64_t>(static_cast<int64_t>(value), -kFarIndex, kFarIndex);
    } else {
      return 0;
    }
  });
}

// The dimension numbers, with the lists that follow from them.
struct Numbers {
  Numbers(const Node& node, const GatherNames& names, int operand_rank, int indices_rank,
          int sliced_rank)
      : dims(GatherDims::Read(node, names)),
        window_axes(dims.WindowAxes(operand_rank)),
        batch_axes(dims.BatchAxes(sliced_rank)),
        index_axes(dims.IndexAxes(indices_rank)) {
    for (int64_t axis : dims.indices_batching) {
      batching_places.push_back(std::find(index_axes.begin(), index_axes.end(), axis) -
                                index_axes.begin());
    }
  }

  // Calls visit(start, offset of the slice in `sliced`) for each index vector, in row-major order.
  template <class Visit>
  void ForEachSlice(const View& indices, const View& sliced, int operand_rank, Visit visit) const {
    Extents extents;
    for (int64_t axis : index_axes) extents.push_back(indices.extents[axis]);
    if (NumElements(extents) == 0) return;
    const int64_t step =
        dims.index_vector < indices.rank() ? indices.strides[dims.index_vector] : 0;
    Extents place(extents.size(), 0);
    Extents start(operand_rank, 0);
    do {
      int64_t position = 0, offset = 0;
      for (size_t i = 0; i < place.size(); ++i) {
        position += place[i] * indices.strides[index_axes[i]];
        offset += place[i] * sliced.strides[batch_axes[i]];
      }
      for (size_t k = 0; k < dims.index_map.size(); ++k) {
        start[dims.index_map[k]] = ReadIndex(indices, position + static_cast<int64_t>(k) * step);
      }
      for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
        start[dims.operand_batching[i]] = place[batching_places[i]];
      }
      visit(start, offset);
    } while (NextIndex(extents, &place));
  }

  GatherDims dims;
  Int64s window_axes, batch_axes, index_axes;
  std::vector<size_t> batching_places;
};

class GatherKernel final : public Kernel {
 public:
  GatherKernel(const KernelRequest& request, std::vector<int> places)
      : numbers_(request.node(), kGatherNames, request.operand_type(places[0]).rank(),
                 request.operand_type(places[1]).rank(), request.result_type(0).rank()),
        sizes_(request.node().attr("slice_sizes").AsDims()),
        places_(std::move(places)) {}
  std::string_view name() const override { return "gather"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& from = call.operands[places_[0]];
    const View& to = call.results[0];
    if (NumElements(to.extents) == 0) return absl::OkStatus();
    Extents last(from.rank());  // largest start at which a slice lies inside
    for (int axis = 0; axis < from.rank(); ++axis) {
      const SymbolBindings none;
      WEIR_ASSIGN_OR_RETURN(const int64_t size,
                            sizes_[axis].Evaluate(call.symbols == nullptr ? none : *call.symbols));
      last[axis] = from.extents[axis] - size;
      if (last[axis] >= 0) continue;
      return InvalidArgument("a slice of ", size, " does not fit into axis ", axis,
                             " of operand 0 ", ExtentsToString(from.extents));
    }
    const Slices slices(numbers_, from, to);
    const View& indices = call.operands[places_[1]];
    if (indices.dtype == DType::kI64) {
      CopyLines<int64_t>(slices, indices, from, to, last);
    } else if (indices.dtype == DType::kI32) {
      CopyLines<int32_t>(slices, indices, from, to, last);
    } else {
      numbers_.ForEachSlice(indices, to, from.rank(), [&](const Extents& start, int64_t offset) {
        int64_t source = 0;
        for (int axis = 0; axis < from.rank(); ++axis) {
          source += std::clamp<int64_t>(start[axis], 0, last[axis]) * from.strides[axis];
        }
        slices.Copy(from.as<std::byte>() + source * slices.element,
                    to.as<std::byte>() + offset * slices.element);
      });
    }
    return absl::OkStatus();
  }

 private:
  // What a slice is, in the operand and in the result.
  struct Slices {
    Slices(const Numbers& numbers, const View& from, const View& to)
        : dtype(from.dtype), element(SizeOf(from.dtype)) {
      for (size_t i = 0; i < numbers.window_axes.size(); ++i) {
        extents.push_back(to.extents[numbers.dims.window[i]]);
        from_strides.push_back(from.strides[numbers.window_axes[i]]);
        to_strides.push_back(to.strides[numbers.dims.window[i]]);
      }
      const Extents dense = RowMajorStrides(extents);
      is_block = true;
      for (size_t i = 0; i < extents.size(); ++i) {
        const bool fits = from_strides[i] == dense[i] && to_strides[i] == dense[i];
        is_block = is_block && (fits || extents[i] == 1);
      }
      bytes = static_cast<size_t>(NumElements(extents) * element);
    }

    void Copy(const std::byte* source, std::byte* target) const {
      if (!is_block) {
        CopyStrided(dtype, extents, source, from_strides, target, to_strides);
      } else if (bytes == sizeof(uint32_t)) {
        std::memcpy(target, source, sizeof(uint32_t));
      } else if (bytes == sizeof(uint64_t)) {
        std::memcpy(target, source, sizeof(uint64_t));
      } else {
        std::memcpy(target, source, bytes);
      }
    }

    DType dtype;
    int64_t element;
    Extents extents, from_strides, to_strides;
    size_t bytes;
    bool is_block;
  };

  // Index vectors in lines along the innermost of their axes, with one step for each array.
  template <class Index>
  void CopyLines(const Slices& slices, const View& indices, const View& from, const View& to,
                 const Extents& last) const {
    const GatherDims& dims = numbers_.dims;
    Extents extents, position_steps, offset_steps, source_steps;
    for (size_t i = 0; i < numbers_.index_axes.size(); ++i) {
      extents.push_back(indices.extents[numbers_.index_axes[i]]);
      position_steps.push_back(indices.strides[numbers_.index_axes[i]]);
      offset_steps.push_back(to.strides[numbers_.batch_axes[i]]);
      source_steps.push_back(0);
    }
    for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
      source_steps[numbers_.batching_places[i]] += from.strides[dims.operand_batching[i]];
    }
    if (extents.empty()) {
      extents = {1};
      position_steps = offset_steps = source_steps = {0};
    }
    const int64_t count = extents.back();
    const int64_t step =
        dims.index_vector < indices.rank() ? indices.strides[dims.index_vector] : 0;
    extents.pop_back();
    Extents place(extents.size(), 0);
    do {
      int64_t position = 0, offset = 0, source = 0;
      for (size_t i = 0; i < place.size(); ++i) {
        position += place[i] * position_steps[i];
        offset += place[i] * offset_steps[i];
        source += place[i] * source_steps[i];
      }
      for (int64_t i = 0; i < count; ++i) {
        int64_t start = source + i * source_steps.back();
        const Index* const vector = indices.as<Index>() + position + i * position_steps.back();
        for (size_t k = 0; k < dims.index_map.size(); ++k) {
          const int64_t axis = dims.index_map[k];
          start += std::clamp<int64_t>(vector[static_cast<int64_t>(k) * step], 0, last[axis]) *
                   from.strides[axis];
        }
        slices.Copy(from.as<std::byte>() + start * slices.element,
                    to.as<std::byte>() + (offset + i * offset_steps.back()) * slices.element);
      }
    } while (NextIndex(extents, &place));
  }

  const Numbers numbers_;
  const std::vector<Dim> sizes_;
  const std::vector<int> places_;
};

// Combines a line of updates with what is stored; strides count elements. All of a scatter that is
// compiled for each type.
using LineLoop = void (*)(int64_t count, const std::byte* from, int64_t from_stride, std::byte* to,
                          int64_t to_stride);

template <Combiner combiner, class T>
void CombineLine(int64_t count, const std::byte* from, int64_t from_stride, std::byte* to,
                 int64_t to_stride) {
  const T* update = reinterpret_cast<const T*>(from);
  T* stored = reinterpret_cast<T*>(to);
  if (from_stride == 1 && to_stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      stored[i] = CombineStored<combiner, T>(stored[i], update[i]);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i, update += from_stride, stored += to_stride) {
    *stored = CombineStored<combiner, T>(*stored, *update);
  }
}

LineLoop FindLineLoop(Combiner combiner, DType dtype) {
  return VisitCombiner(combiner, [&](auto tag) -> LineLoop {
    return VisitDType(dtype, [&]<class T>(TypeTag<T>) -> LineLoop {
      return &CombineLine<decltype(tag)::value, T>;
    });
  });
}

// One slice of updates on the elements of the result that lie inside, by recursion over the window
// axes down to lines along the last of them.
struct Updates {
  LineLoop line;
  int64_t element;                         // bytes
  absl::Span<const int64_t> window;        // extents
  absl::Span<const int64_t> from_strides;  // by window axis
  absl::Span<const int64_t> to_strides;
  absl::Span<const int64_t> first;  // of the window in the result
  absl::Span<const int64_t> limit;  // extents of the result

  void Apply(size_t axis, const std::byte* from, std::byte* to) const {
    if (axis == window.size()) return line(1, from, 1, to, 1);
    const int64_t begin = std::max<int64_t>(0, -first[axis]);
    const int64_t end = std::min(window[axis], limit[axis] - first[axis]);
    const int64_t from_step = from_strides[axis] * element, to_step = to_strides[axis] * element;
    from += begin * from_step;
    to += (first[axis] + begin) * to_step;
    if (axis + 1 == window.size()) {
      return line(end - begin, from, from_strides[axis], to, to_strides[axis]);
    }
    for (int64_t i = begin; i < end; ++i, from += from_step, to += to_step) {
      Apply(axis + 1, from, to);
    }
  }
};

class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(const KernelRequest& request, Combiner combiner, std::vector<int> places)
      : numbers_(request.node(), kScatterNames, request.operand_type(places[0]).rank(),
                 request.operand_type(places[1]).rank(), request.operand_type(places[2]).rank()),
        combiner_(combiner),
        places_(std::move(places)) {}
  std::string_view name() const override { return "scatter"; }

  absl::Status Run(const KernelCall& call) const override {
    const View& base = call.operands[places_[0]];
    const View& indices = call.operands[places_[1]];
    const View& updates = call.operands[places_[2]];
    const View& to = call.results[0];
    for (size_t i = 0; i < numbers_.batch_axes.size(); ++i) {
      if (updates.extents[numbers_.batch_axes[i]] == indices.extents[numbers_.index_axes[i]]) {
        continue;
      }
      return InvalidArgument("updates ", ExtentsToString(updates.extents),
                             " do not fit to the indices ", ExtentsToString(indices.extents));
    }
    const bool in_place =
        base.data == to.data && base.strides == to.strides && base.extents == to.extents;
    if (!in_place) {
      CopyStrided(to.dtype, to.extents, base.data, base.strides, to.data, to.strides);
    }
    Apply(indices, updates, to);
    return absl::OkStatus();
  }

 private:
  void Apply(const View& indices, const View& updates, const View& to) const {
    Extents window, from_strides, to_strides, limit;
    for (size_t i = 0; i < numbers_.window_axes.size(); ++i) {
      window.push_back(updates.extents[numbers_.dims.window[i]]);
      from_strides.push_back(updates.strides[numbers_.dims.window[i]]);
      to_strides.push_back(to.strides[numbers_.window_axes[i]]);
      limit.push_back(to.extents[numbers_.window_axes[i]]);
    }
    Extents first(window.size());
    const int64_t element = SizeOf(to.dtype);
    const LineLoop line = FindLineLoop(combiner_, to.dtype);
    const Updates slice{line, element, window, from_strides, to_strides, first, limit};
    numbers_.ForEachSlice(indices, updates, to.rank(), [&](const Extents& start, int64_t offset) {
      int64_t target = 0;
      size_t next_window_axis = 0;
      for (int axis = 0; axis < to.rank(); ++axis) {
        const bool in_window = next_window_axis < numbers_.window_axes.size() &&
                               numbers_.window_axes[next_window_axis] == axis;
        if (in_window) {
          first[next_window_axis++] = start[axis];
        } else if (start[axis] < 0 || start[axis] >= to.extents[axis]) {
          return;
        } else {
          target += start[axis] * to.strides[axis];
        }
      }
      slice.Apply(0, updates.as<const std::byte>() + offset * element,
                  to.as<std::byte>() + target * element);
    });
  }

  const Numbers numbers_;
  const Combiner combiner_;
  const std::vector<int> places_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeGather(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(new GatherKernel(request, request.InputPlaces()));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeScatter(const KernelRequest& request) {
  const std::optional<Combiner> combiner =
      ParseCombiner(request.node().attr("combiner").AsString());
  if (!combiner.has_value()) return absl::UnimplementedError("unknown combiner");
  return std::unique_ptr<Kernel>(new ScatterKernel(request, *combiner, request.InputPlaces()));
}

}  // namespace weir::cpu
