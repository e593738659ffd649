#include "worker/device/cpu/linalg/dot_general.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/base/status.h"
#include "common/ops/axes.h"
#include "common/tensor/copy.h"
#include "worker/device/cpu/contraction/compute_type.h"
#include "worker/device/cpu/contraction/product.h"
#include "worker/device/cpu/epilogue.h"
#include "worker/device/cpu/scratch.h"

namespace weir::cpu {
namespace {

// One axis of the iteration space with its strides in the three arrays.
struct LoopAxis {
  int64_t extent = 1;
  int64_t lhs = 0;
  int64_t rhs = 0;
  int64_t out = 0;
};
using LoopAxes = absl::InlinedVector<LoopAxis, 6>;

// Appends, merged with the last axis if the two run as one in all arrays.
void Add(const LoopAxis& axis, LoopAxes* axes) {
  if (axis.extent == 1) return;
  if (!axes->empty()) {
    LoopAxis& last = axes->back();
    if (last.lhs == axis.lhs * axis.extent && last.rhs == axis.rhs * axis.extent &&
        last.out == axis.out * axis.extent) {
      last = {last.extent * axis.extent, axis.lhs, axis.rhs, axis.out};
      return;
    }
  }
  axes->push_back(axis);
}

int64_t Count(absl::Span<const int64_t> extents, const Int64s& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= extents[axis];
  return count;
}

// The axes of one operand by role, and all of them in the order batch, free, contract.
struct SideAxes {
  SideAxes(const Node& node, bool lhs, int rank)
      : batch(node.attr(lhs ? "lhs_batch" : "rhs_batch").AsInts()),
        contract(node.attr(lhs ? "lhs_contract" : "rhs_contract").AsInts()) {
    all = batch;
    all.insert(all.end(), contract.begin(), contract.end());
    free = OtherAxes(all, rank);
    all = batch;
    all.insert(all.end(), free.begin(), free.end());
    all.insert(all.end(), contract.begin(), contract.end());
  }
  Int64s batch, free, contract, all;
};

// An operand as the product sees it: its own memory, or a dense copy in the order of SideAxes::all.
struct Operand {
  const void* data = nullptr;
  Extents strides;
};

bool RunsAsOne(const View& view, const Int64s& axes) {
  std::optional<int64_t> outer_stride;
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t extent = view.extents[axes[i]];
    if (extent == 1) continue;
    if (outer_stride.has_value() && view.strides[axes[i]] != *outer_stride) return false;
    outer_stride = view.strides[axes[i]] * extent;
  }
  return true;
}

bool NeedsCopy(const View& view, const SideAxes& side) {
  return !ComputesInPlace(view.dtype) || !RunsAsOne(view, side.contract);
}

size_t CopyBytes(const View& view, const SideAxes& side, int64_t compute_bytes) {
  if (!NeedsCopy(view, side)) return 0;
  const size_t count = NumElements(view.extents);
  const size_t stored = ComputesInPlace(view.dtype) ? 0 : Padded(count * SizeOf(view.dtype));
  return stored + Padded(count * compute_bytes);
}

template <class T>
Operand Prepare(const View& view, const SideAxes& side, Scratch* scratch) {
  Operand operand{view.data, Extents(view.strides.begin(), view.strides.end())};
  if (!NeedsCopy(view, side)) return operand;
  int64_t stride = 1;
  for (size_t i = side.all.size(); i-- > 0;) {
    operand.strides[side.all[i]] = stride;
    stride *= std::max<int64_t>(view.extents[side.all[i]], 1);
  }
  const int64_t count = NumElements(view.extents);
  const bool widen = !ComputesInPlace(view.dtype);
  T* copy = scratch->Take<T>(count);
  void* dense =
      widen ? scratch->Take<std::byte>(count * SizeOf(view.dtype)) : static_cast<void*>(copy);
  CopyStrided(view.dtype, view.extents, view.data, view.strides, dense, operand.strides);
  if (widen) Widen(view.dtype, dense, count, copy);
  operand.data = copy;
  return operand;
}

class DotGeneral final : public Kernel {
 public:
  DotGeneral(const KernelRequest& request, DType compute)
      : lhs_(request.node(), true, request.graph->type(request.node().inputs[0]).rank()),
        rhs_(request.node(), false, request.graph->type(request.node().inputs[1]).rank()),
        dtype_(request.result_type(0).dtype),
        compute_(compute),
        isa_(request.isa),
        epilogue_(EpilogueOf(*request.graph, request.nodes)) {
    lhs_operand_ = request.PlaceOf(request.node().inputs[0]);
    rhs_operand_ = request.PlaceOf(request.node().inputs[1]);
    lhs_constant_ = request.constant(lhs_operand_) != nullptr;
    if (epilogue_.bias.valid()) bias_operand_ = request.PlaceOf(epilogue_.bias);
    const Tensor* rhs = request.constant(rhs_operand_);
    if (rhs != nullptr && rhs_.batch.empty() && !NeedsCopy(ViewOf(*rhs), rhs_)) PackRhs(*rhs);
  }

  std::string_view name() const override {
    if (epilogue_.bias.valid()) return epilogue_.relu ? "product+bias+relu" : "product+bias";
    return epilogue_.relu ? "product+relu" : "product";
  }
  size_t resident_bytes() const override { return packed_bytes_; }

  AxisOrder ResultOrder(absl::Span<const View> operands, absl::Span<const View> results,
                        int index) const override {
    AxisOrder order = RowMajorOrder(results[index].rank());
    if (!LeftInnermost(operands[lhs_operand_])) return order;
    const auto free = order.begin() + lhs_.batch.size();
    std::rotate(free, free + lhs_.free.size(), order.end());
    return order;
  }

  size_t ScratchBytes(absl::Span<const View> operands,
                      absl::Span<const View> results) const override {
    return VisitComputeType(compute_, [&]<class T>(T) {
      return CopyBytes(operands[lhs_operand_], lhs_, sizeof(T)) +
             CopyBytes(operands[rhs_operand_], rhs_, sizeof(T)) +
             Padded(PaddedColumns<T>(operands) * sizeof(T)) + OutBytes(results[0], sizeof(T)) +
             ProductBytes<T>(operands);
    });
  }

  absl::Status Run(const KernelCall& call) const override {
    VisitComputeType(compute_, [&]<class T>(T) { RunAs<T>(call); });
    return absl::OkStatus();
  }

 private:
  void PackRhs(const Tensor& rhs) {
    VisitComputeType(compute_, [&]<class T>(T) {
      LoopAxes columns, depth;
      for (int64_t axis : rhs_.free) Add({rhs.extent(axis), 0, rhs.strides()[axis]}, &columns);
      for (int64_t axis : rhs_.contract) Add({rhs.extent(axis), 0, rhs.strides()[axis]}, &depth);
      if (columns.size() > 1 || depth.size() > 1) return;
      const LoopAxis n = columns.empty() ? LoopAxis{} : columns[0];
      const LoopAxis k = depth.empty() ? LoopAxis{} : depth[0];
      const TileLoops<T>& loops = TileLoopsFor<T>(isa_);
      packed_bytes_ = PackedElements(k.extent, n.extent, loops.lanes) * sizeof(T);
      packed_ = Buffer::Allocate(packed_bytes_);
      PackColumns<T>(loops, k.extent, n.extent, {rhs.data<T>(), k.rhs, n.rhs},
                     reinterpret_cast<T*>(packed_->data()));
    });
  }

  // True if the result is best laid out with the free axes of the left side innermost: where the
  // left side itself lies so (rows in lanes), or is the weights.
  bool LeftInnermost(const View& lhs) const {
    if (lhs_constant_) return packed_ == nullptr;
    int64_t extent = 1, stride = 0;
    for (size_t i = lhs_.free.size(); i-- > 0 && stride == 0;) {
      if (lhs.extents[lhs_.free[i]] == 1) continue;
      extent = Count(lhs.extents, lhs_.free);
      stride = lhs.strides[lhs_.free[i]];
    }
    return stride == 1 && extent >= 16;
  }

  template <class T>
  int64_t PaddedColumns(absl::Span<const View> operands) const {
    if (!epilogue_.bias.valid()) return 0;
    const int64_t columns = Count(operands[rhs_operand_].extents, rhs_.free);
    return columns + TileLoopsFor<T>(isa_).lanes;
  }

  // A dense result in the compute type, where the stored one is narrower.
  size_t OutBytes(const View& result, int64_t compute_bytes) const {
    if (ComputesInPlace(dtype_)) return 0;
    const size_t count = NumElements(result.extents);
    return Padded(count * compute_bytes) + Padded(count * SizeOf(dtype_));
  }

  // Enough for either side in the columns.
  template <class T>
  int64_t ProductBytes(absl::Span<const View> operands) const {
    const TileLoops<T>& loops = TileLoopsFor<T>(isa_);
    const View& lhs = operands[lhs_operand_];
    const View& rhs = operands[rhs_operand_];
    const int64_t depth = Count(lhs.extents, lhs_.contract);
    const int64_t left = ProductScratch(loops, depth, Count(lhs.extents, lhs_.free));
    const int64_t right = ProductScratch(loops, depth, Count(rhs.extents, rhs_.free));
    return std::max(left, right) * static_cast<int64_t>(sizeof(T));
  }

  template <class T>
  void RunAs(const KernelCall& call) const {
    const View& result = call.results[0];
    if (NumElements(result.extents) == 0) return;
    Scratch scratch(call.scratch);
    const View& lhs_view = call.operands[lhs_operand_];
    const View& rhs_view = call.operands[rhs_operand_];
    const Operand lhs = Prepare<T>(lhs_view, lhs_, &scratch);
    const Operand rhs = Prepare<T>(rhs_view, rhs_, &scratch);
    Extents out_strides(result.strides.begin(), result.strides.end());
    T* out = result.as<T>();
    const bool narrow = !ComputesInPlace(dtype_);
    if (narrow) {
      out_strides = RowMajorStrides(result.extents);
      out = scratch.Take<T>(NumElements(result.extents));
    }
    LoopAxes outer, rows, columns, depth;
    int axis = 0;
    for (size_t i = 0; i < lhs_.batch.size(); ++i, ++axis) {
      Add({result.extents[axis], lhs.strides[lhs_.batch[i]], rhs.strides[rhs_.batch[i]],
           out_strides[axis]},
          &outer);
    }
    for (int64_t a : lhs_.free) {
      Add({lhs_view.extents[a], lhs.strides[a], 0, out_strides[axis++]}, &rows);
    }
    for (int64_t a : rhs_.free) {
      Add({rhs_view.extents[a], 0, rhs.strides[a], out_strides[axis++]}, &columns);
    }
    for (size_t i = 0; i < lhs_.contract.size(); ++i) {
      Add({lhs_view.extents[lhs_.contract[i]], lhs.strides[lhs_.contract[i]],
           rhs.strides[rhs_.contract[i]], 0},
          &depth);
    }
    // What does not merge into one axis of rows and one of columns is looped over.
    for (LoopAxes* axes : {&rows, &columns}) {
      if (axes->empty()) axes->push_back({1, 1, 1, 1});
      for (size_t i = 0; i + 1 < axes->size(); ++i) outer.push_back((*axes)[i]);
    }
    if (depth.empty()) depth.push_back({1, 1, 1, 0});
    Loop<T> loop{.rows = rows.back(), .columns = columns.back(), .depth = depth[0]};
    loop.bias = Bias<T>(call, &scratch);
    loop.scratch = scratch.Take<T>(0);
    loop.packed = columns.size() == 1 && packed_ != nullptr
                      ? reinterpret_cast<const T*>(packed_->data())
                      : nullptr;
    Products(loop, outer, 0, static_cast<const T*>(lhs.data), static_cast<const T*>(rhs.data), out);
    if (!narrow) return;
    std::byte* stored = scratch.Take<std::byte>(NumElements(result.extents) * SizeOf(dtype_));
    Narrow(dtype_, out, NumElements(result.extents), stored);
    CopyStrided(dtype_, result.extents, stored, out_strides, result.data, result.strides);
  }

  // The bias in a row, followed by a vector of anything.
  template <class T>
  const T* Bias(const KernelCall& call, Scratch* scratch) const {
    if (!epilogue_.bias.valid()) return nullptr;
    const View& bias = call.operands[bias_operand_];
    const int64_t count = bias.extents[epilogue_.bias_axis];
    T* row = scratch->Take<T>(PaddedColumns<T>(call.operands));
    for (int64_t i = 0; i < count; ++i)
      row[i] = bias.as<T>()[i * bias.strides[epilogue_.bias_axis]];
    std::fill(row + count, row + PaddedColumns<T>(call.operands), T{0});
    return row;
  }

  template <class T>
  struct Loop {
    LoopAxis rows, columns, depth;
    const T* bias = nullptr;
    const T* packed = nullptr;
    T* scratch = nullptr;
  };

  template <class T>
  void Products(const Loop<T>& loop, const LoopAxes& outer, size_t axis, const T* lhs, const T* rhs,
                T* out) const {
    if (axis == outer.size()) return OneProduct(loop, lhs, rhs, out);
    for (int64_t i = 0; i < outer[axis].extent; ++i) {
      Products(loop, outer, axis + 1, lhs, rhs, out);
      lhs += outer[axis].lhs;
      rhs += outer[axis].rhs;
      out += outer[axis].out;
    }
  }

  template <class T>
  void OneProduct(const Loop<T>& loop, const T* lhs, const T* rhs, T* out) const {
    const LoopAxis& m = loop.rows;
    const LoopAxis& n = loop.columns;
    ProductArgs<T> args;
    args.depth = loop.depth.extent;
    args.activation = epilogue_.relu ? Activation::kRelu : Activation::kNone;
    // The side in the columns should be the one that is contiguous in the result.
    const bool swap = n.extent == 1 ? m.out == 1 && m.lhs == 1 : n.out != 1 && m.out == 1;
    if (swap) {
      args.rows = n.extent;
      args.columns = m.extent;
      args.a = {rhs, n.rhs, loop.depth.rhs};
      args.b = {lhs, loop.depth.lhs, m.lhs};
      args.c = {out, n.out, m.out};
      args.row_bias = loop.bias;
    } else {
      args.rows = m.extent;
      args.columns = n.extent;
      args.a = {lhs, m.lhs, loop.depth.lhs};
      args.b = {rhs, loop.depth.rhs, n.rhs};
      args.c = {out, m.out, n.out};
      args.column_bias = loop.bias;
      args.packed_b = loop.packed;
    }
    Product(TileLoopsFor<T>(isa_), args, loop.scratch);
  }

  const SideAxes lhs_, rhs_;
  const DType dtype_, compute_;
  const Isa isa_;
  const Epilogue epilogue_;
  int lhs_operand_ = 0, rhs_operand_ = 0, bias_operand_ = 0;
  bool lhs_constant_ = false;
  std::shared_ptr<Buffer> packed_;
  size_t packed_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeDotGeneral(const KernelRequest& request) {
  const DType dtype = request.graph->type(request.node().inputs[0]).dtype;
  const std::optional<DType> compute = ComputeType(dtype);
  if (!compute.has_value()) {
    return absl::UnimplementedError(StrCat("no tile loops for ", DTypeName(dtype)));
  }
  return std::unique_ptr<Kernel>(new DotGeneral(request, *compute));
}

}  // namespace weir::cpu
