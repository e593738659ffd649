#include "common/ops/axes.h"

#include <algorithm>
#include <numeric>

#include "common/base/status.h"

namespace weir {

absl::Status CheckAxis(std::string_view attr, int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return absl::OkStatus();
  return InvalidArgument("attribute '", attr, "' names axis ", axis, " of ", rank,
                         rank == 1 ? " axis" : " axes");
}

absl::Status CheckAxes(std::string_view attr, const Int64s& axes, int rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t axis : axes) {
    WEIR_RETURN_IF_ERROR(CheckAxis(attr, axis, rank));
    if (seen[axis]) return InvalidArgument("attribute '", attr, "' names axis ", axis, " twice");
    seen[axis] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckSorted(std::string_view attr, const Int64s& axes) {
  if (std::is_sorted(axes.begin(), axes.end())) return absl::OkStatus();
  return InvalidArgument("attribute '", attr, "' must be in ascending order, found ",
                         ExtentsToString(axes));
}

absl::Status CheckLength(std::string_view attr, size_t length, int rank) {
  if (length == static_cast<size_t>(rank)) return absl::OkStatus();
  return InvalidArgument("attribute '", attr, "' must have ", rank,
                         " entries, one for each axis of operand 0, found ", length);
}

absl::Status CheckDims(std::string_view attr, const std::vector<Dim>& dims) {
  if (dims.size() > kMaxRank) {
    return InvalidArgument("attribute '", attr, "' has ", dims.size(), " entries, at most ",
                           kMaxRank, " axes are possible");
  }
  for (const Dim& dim : dims) {
    if (!dim.is_number() || dim.number() >= 0) continue;
    return InvalidArgument("attribute '", attr,
                           "' has a negative extent: ", Shape(dims).ToString());
  }
  return absl::OkStatus();
}

bool MustDiffer(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return difference.is_number() && difference.number() != 0;
}

bool MustExceed(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return difference.is_number() && difference.number() > 0;
}

std::string OperandText(const InferContext& context, int i) {
  return StrCat("operand ", i, " (", context.input(i).ToString(), ")");
}

bool HasAxis(const Int64s& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<int> ToInts(const Int64s& axes) { return std::vector<int>(axes.begin(), axes.end()); }

Int64s FirstAxes(int count) {
  Int64s axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Int64s OtherAxes(const Int64s& axes, int rank) {
  Int64s others;
  for (int axis = 0; axis < rank; ++axis) {
    if (!HasAxis(axes, axis)) others.push_back(axis);
  }
  return others;
}

Int64s Shifted(const Int64s& axes) {
  Int64s shifted = axes;
  for (int64_t& axis : shifted) ++axis;
  return shifted;
}

Attrs With(Attrs attrs, std::string_view name, Attr value) {
  attrs.insert_or_assign(std::string(name), std::move(value));
  return attrs;
}

absl::Status ReturnStacked(PforRewrite& rewrite, Attrs attrs) {
  std::vector<ValueId> operands;
  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  rewrite.Return(rewrite.build().ApplyAll(rewrite.node().op, operands, std::move(attrs)));
  return absl::OkStatus();
}

bool NextIndex(absl::Span<const int64_t> extents, Extents* index) {
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (++(*index)[axis] < extents[axis]) return true;
    (*index)[axis] = 0;
  }
  return false;
}

absl::StatusOr<Tensor> NewOutput(const EvalContext& context, int i) {
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.OutputExtents(i));
  return Tensor::TryCreate(context.output_dtype(i), extents);
}

Tensor ToInt64(const Tensor& tensor) {
  const Tensor dense = tensor.Contiguous();
  Tensor out(DType::kI64, tensor.extents());
  VisitDType(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        const T value = dense.data<T>()[i];
        out.mutable_data<int64_t>()[i] =
            std::is_same_v<T, uint64_t> && value > static_cast<T>(INT64_MAX)
                ? INT64_MAX
                : static_cast<int64_t>(value);
      }
    }
  });
  return out;
}

}  // namespace weir
