#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/variable_value.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/keyed/variable_values.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

constexpr int kReads = 0;
constexpr int kUpdates = 1;

// Order "time": of each time first the updates, then the reads, frame by frame.
class VariableState : public VertexState {
 public:
  explicit VariableState(const VertexSetup& setup)
      : update_type_(setup.vertex().input_types[kUpdates]), values_(setup) {}

  absl::Status Begin(Inputs inputs) override {
    const RecordBatch updates = MergeRecords(inputs[kUpdates], update_type_);
    if (!updates.empty()) WEIR_RETURN_IF_ERROR(values_.Assign(updates));
    reads_ = std::move(inputs[kReads]);
    return absl::OkStatus();
  }
  bool done() const override { return reads_.empty(); }
  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    const RecordBatch& batch = reads_.back();
    const int64_t end = std::min(next_ + most, batch.size());
    auto read = values_.Read(SliceRows(batch, next_, end));
    next_ = end;
    if (end == batch.size()) {
      reads_.pop_back();
      next_ = 0;
    }
    return read;
  }
  int64_t bytes() const override {
    int64_t sum = values_.bytes();
    for (const RecordBatch& batch : reads_) sum += HeldBytes(batch);
    return sum;
  }

 private:
  const RecordType update_type_;
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
