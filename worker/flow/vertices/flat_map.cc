#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/gather_rows.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

// f32[records,m,3] as f32[records*m,3].
Tensor WithoutRecordAxis(const Tensor& column) {
  Extents extents(column.extents().begin() + 1, column.extents().end());
  extents[0] *= column.extent(0);
  return column.Reshape(extents);
}

class FlatMapVertex : public StatelessVertex {
 public:
  explicit FlatMapVertex(const VertexSetup& setup)
      : StatelessVertex(setup),
        function_(setup.functions.at("function")),
        children_per_frame_(RecordsPerFrame(setup.vertex().output_types[0])) {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                          function_->Call(batch.columns, batch.size()));
    const Tensor counts = results[0].Contiguous();
    const int64_t most = results[1].extent(1);
    Children children;
    for (size_t i = 1; i < results.size(); ++i) {
      children.columns.push_back(WithoutRecordAxis(results[i].Contiguous()));
    }
    if (AreAll(counts, most)) {
      SendRecords(0, time, AllChildren(batch, std::move(children.columns), most), activation);
      return absl::OkStatus();
    }
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t count = counts.data<int64_t>()[row];
      if (count < 0 || count > most) {
        return absl::OutOfRangeError(StrCat("record ", row, ": the function returned the count ",
                                            count, ", and columns of ", most, " records"));
      }
      for (int64_t i = 0; i < count; ++i) {
        children.rows.push_back(row * most + i);
        children.parents.push_back(row);
        if (static_cast<int64_t>(children.rows.size()) < children_per_frame_) continue;
        Send(batch, time, &children, activation);
      }
    }
    Send(batch, time, &children, activation);
    return absl::OkStatus();
  }

 private:
  struct Children {
    std::vector<Tensor> columns;
    std::vector<int64_t> rows;     // of the columns; those that are not sent yet
    std::vector<int64_t> parents;  // of each, by row of the batch
  };

  static bool AreAll(const Tensor& counts, int64_t most) {
    const int64_t* count = counts.data<int64_t>();
    return std::all_of(count, count + counts.extent(0), [&](int64_t c) { return c == most; });
  }

  // The columns as they are, `most` rows for each record.
  static RecordBatch AllChildren(const RecordBatch& batch, std::vector<Tensor> columns,
                                 int64_t most) {
    RecordBatch all;
    all.columns = std::move(columns);
    all.origins = Repeated(batch.origins, most);
    if (batch.weights) all.weights = Repeated(*batch.weights, most);
    return all;
  }

  static Tensor Repeated(const Tensor& numbers, int64_t times) {
    Tensor repeated(DType::kI64, {numbers.extent(0) * times});
    int64_t* out = repeated.mutable_data<int64_t>();
    for (int64_t row = 0; row < numbers.extent(0); ++row) {
      out = std::fill_n(out, times, numbers.data<int64_t>()[row]);
    }
    return repeated;
  }

  static void Send(const RecordBatch& batch, const Timestamp& time, Children* children,
                   VertexActivation* activation) {
    RecordBatch chosen;
    for (const Tensor& column : children->columns) {
      chosen.columns.push_back(GatherRows(ColumnRows::Of(column), children->rows));
    }
    chosen.origins = GatherRows(ColumnRows::Of(batch.origins), children->parents);
    if (batch.weights) {
      chosen.weights = GatherRows(ColumnRows::Of(*batch.weights), children->parents);
    }
    SendRecords(0, time, std::move(chosen), activation);
    children->rows.clear();
    children->parents.clear();
  }

  const std::shared_ptr<const RecordFunction> function_;
  const int64_t children_per_frame_;
};

}  // namespace

std::unique_ptr<Vertex> MakeFlatMapVertex(const VertexSetup& setup) {
  return std::make_unique<FlatMapVertex>(setup);
}

}  // namespace weir
