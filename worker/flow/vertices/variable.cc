#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/variable_value.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/sorted_records.h"
#include "worker/flow/keyed/variable_values.h"
#include "worker/flow/memory/will_need.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

constexpr int kReads = 0;
constexpr int kUpdates = 1;

// Order "time": of each time first the updates, in order, then the reads, frame by frame.
class VariableState : public VertexState {
 public:
  explicit VariableState(const VertexSetup& setup)
      : type_(setup.vertex().output_types[0]),
        updates_(setup.vertex().input_types[kUpdates]),
        values_(setup) {}

  absl::Status Begin(Inputs inputs) override {
    updates_.Begin(std::move(inputs[kUpdates]));
    reads_ = std::move(inputs[kReads]);
    return absl::OkStatus();
  }
  bool done() const override { return updates_.done() && reads_.empty(); }
  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    WEIR_RETURN_IF_ERROR(AssignSome(most));
    return updates_.done() && !reads_.empty() ? Read(most) : EmptyBatch(type_);
  }
  int64_t bytes() const override {
    int64_t sum = values_.bytes() + updates_.bytes();
    for (const RecordBatch& batch : reads_) sum += HeldBytes(batch);
    return sum;
  }

 private:
  absl::Status AssignSome(int64_t most) {
    if (!updates_.is_sorted()) WEIR_RETURN_IF_ERROR(updates_.SortSome());
    if (!updates_.is_sorted() || updates_.done()) return absl::OkStatus();
    const RecordBatch some = updates_.NextMerged(most);
    return some.empty() ? absl::OkStatus() : values_.Assign(some);
  }

  absl::StatusOr<RecordBatch> Read(int64_t most) {
    const RecordBatch& batch = reads_.back();
    const int64_t end = std::min(next_ + most, batch.size());
    WillNeedRows(batch, next_, end);
    auto read = values_.Read(SliceRows(batch, next_, end));
    next_ = end;
    if (end == batch.size()) {
      reads_.pop_back();
      next_ = 0;
    }
    return read;
  }

  const RecordType type_;
  SortedRecords updates_;  // of this time that are left
  VariableValues values_;
  std::vector<RecordBatch> reads_;  // of this time that are left
  int64_t next_ = 0;                // row of the last of them
};

// Order "relaxed": all on arrival.
class RelaxedVariable : public Vertex {
 public:
  explicit RelaxedVariable(const VertexSetup& setup) : values_(setup) {}

  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override {
    if (batch.empty()) return absl::OkStatus();
    if (input == kUpdates) return values_.Assign(batch);
    WEIR_ASSIGN_OR_RETURN(RecordBatch read, values_.Read(batch));
    activation->Send(0, activation->time(), std::move(read));
    return absl::OkStatus();
  }
  int64_t state_bytes() const override { return values_.bytes(); }

 private:
  VariableValues values_;
};

}  // namespace

std::unique_ptr<Vertex> MakeVariableVertex(const VertexSetup& setup) {
  if (IsRelaxed(setup.vertex())) return std::make_unique<RelaxedVariable>(setup);
  return std::make_unique<KeyedVertex>(setup, StateLife::kJob,
                                       [setup] { return std::make_unique<VariableState>(setup); });
}

}  // namespace weir
