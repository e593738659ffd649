#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/memory/table_vector.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

Timestamp OuterOf(const Timestamp& time) {
  return Timestamp(Coordinates(time.coordinates().begin(), time.coordinates().end() - 1));
}

// A frame of which records wait.
struct WaitingFrame {
  RecordBatch batch;
  int64_t row_bytes;          // in memory
  int64_t spilled_row_bytes;  // on disk
};

// A record that waits for its partners: a row of a frame, which lives as long as one does.
struct Waiting {
  std::shared_ptr<const WaitingFrame> frame;
  int64_t row = 0;
  Timestamp time;
};
using ByOrigin = absl::flat_hash_map<int64_t, Waiting, absl::Hash<int64_t>, std::equal_to<int64_t>,
                                     TableAllocator<std::pair<const int64_t, Waiting>>>;
using Inputs = std::vector<ByOrigin>;

// Rows of some frames, in order; those of one frame behind each other are taken together.
RecordBatch Gather(const std::vector<Waiting>& rows, const RecordType& type) {
  std::vector<RecordBatch> runs;
  std::vector<int64_t> numbers;
  for (size_t begin = 0, end; begin < rows.size(); begin = end) {
    numbers.clear();
    for (end = begin; end < rows.size() && rows[end].frame == rows[begin].frame; ++end) {
      numbers.push_back(rows[end].row);
    }
    runs.push_back(SelectRows(rows[begin].frame->batch, numbers));
  }
  return ConcatBatches(runs, type);
}

class ZipVertex : public Vertex {
 public:
  explicit ZipVertex(const VertexSetup& setup)
      : types_(setup.vertex().input_types), is_held_(types_.size(), false) {
    if (const Attr* hold = setup.vertex().FindAttr("hold")) {
      for (const int64_t input : hold->AsInts()) is_held_[input] = true;
      holds_ = !hold->AsInts().empty();
    }
  }

  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override {
    WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<const WaitingFrame> frame,
                          Keep(std::move(batch), types_[input]));
    const Timestamp& time = activation->time();
    Inputs& held = HeldAt(time);
    if (!is_held_[input]) {
      Inputs& now = AtTime(time);
      WEIR_RETURN_IF_ERROR(AddAll(frame, time, input, &now[input]));
      Match(frame->batch, time, &now, held, activation);
      charge_.Set(kept_bytes_);
      return absl::OkStatus();
    }
    WEIR_RETURN_IF_ERROR(AddAll(frame, time, input, &held[input]));
    for (auto& [other, now] : times_) {
      const bool is_served = OuterOf(other) == OuterOf(time) && LessEqual(time, other);
      if (is_served) Match(frame->batch, other, &now, held, activation);
    }
    charge_.Set(kept_bytes_);
    return absl::OkStatus();
  }

  bool keeps_state() const override { return true; }
  int64_t OnOver(const Timestamp& time) override {
    const auto found = times_.find(time);
    if (found == times_.end()) return 0;
    int64_t in_vain = 0;
    for (const ByOrigin& records : found->second) in_vain += static_cast<int64_t>(records.size());
    Forget(found->second);
    times_.erase(found);
    return in_vain;
  }

  bool keeps_outer_state() const override { return holds_; }
  void OnOuterComplete(const Timestamp& outer) override {
    const auto found = held_.find(outer);
    if (found == held_.end()) return;
    Forget(found->second);
    held_.erase(found);
  }

  int64_t state_bytes() const override { return state_bytes_; }
  int64_t spilled_bytes() const override { return spilled_bytes_; }

 private:
  // On disk if the flow has too much in memory.
  static absl::StatusOr<std::shared_ptr<const WaitingFrame>> Keep(RecordBatch batch,
                                                                  const RecordType& type) {
    const int64_t row_bytes = batch.bytes() / std::max<int64_t>(batch.size(), 1);
    FlowShare* share = FlowShare::Current();
    if (share == nullptr || !share->is_over() || batch.bytes() < share->piece_bytes()) {
      return std::make_shared<const WaitingFrame>(WaitingFrame{std::move(batch), row_bytes, 0});
    }
    WEIR_ASSIGN_OR_RETURN(SpilledRecords spilled, share->Spill(batch));
    return std::make_shared<const WaitingFrame>(
        WaitingFrame{std::move(spilled).Read(type), 0, row_bytes});
  }

  Inputs& AtTime(const Timestamp& time) {
    return times_.try_emplace(time, types_.size()).first->second;
  }
  Inputs& HeldAt(const Timestamp& time) {
    if (!holds_) return nothing_;
    return held_.try_emplace(OuterOf(time), types_.size()).first->second;
  }

  absl::Status AddAll(const std::shared_ptr<const WaitingFrame>& frame, const Timestamp& time,
                      int input, ByOrigin* records) {
    const RecordBatch& batch = frame->batch;
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t origin = batch.origin(row);
      if (batch.weight(row) != 1 ||
          !records->try_emplace(origin, Waiting{frame, row, time}).second) {
        return InvalidArgument("input ", input, " has more than one record of origin ", origin,
                               ", or one whose weight is not 1");
      }
      Count(*frame, 1);
    }
    return absl::OkStatus();
  }

  // One more row of a frame waits, or one less.
  void Count(const WaitingFrame& frame, int64_t sign) {
    state_bytes_ += sign * (frame.row_bytes + static_cast<int64_t>(sizeof(Waiting)));
    spilled_bytes_ += sign * frame.spilled_row_bytes;
    kept_bytes_ += sign * frame.row_bytes;
  }

  // Sends what is whole at `time`, of the origins of a frame that has come.
  void Match(const RecordBatch& frame, const Timestamp& time, Inputs* now, const Inputs& held,
             VertexActivation* activation) {
    std::vector<std::vector<Waiting>> rows(types_.size());
    std::vector<Waiting> whole(types_.size());
    for (int64_t row = 0; row < frame.size(); ++row) {
      if (!Find(frame.origin(row), time, *now, held, &whole)) continue;
      for (size_t i = 0; i < whole.size(); ++i) rows[i].push_back(std::move(whole[i]));
      for (size_t i = 0; i < now->size(); ++i) {
        const auto taken = (*now)[i].find(frame.origin(row));
        if (taken == (*now)[i].end()) continue;
        Count(*taken->second.frame, -1);
        (*now)[i].erase(taken);
      }
    }
    if (rows[0].empty()) return;
    RecordBatch result = Gather(rows[0], types_[0]);
    for (size_t i = 1; i < rows.size(); ++i) {
      for (Tensor& column : Gather(rows[i], types_[i]).columns) {
        result.columns.push_back(std::move(column));
      }
    }
    result.weights.reset();
    activation->Send(0, time, std::move(result));
  }

  bool Find(int64_t origin, const Timestamp& time, const Inputs& now, const Inputs& held,
            std::vector<Waiting>* whole) const {
    for (size_t i = 0; i < types_.size(); ++i) {
      const ByOrigin& records = is_held_[i] ? held[i] : now[i];
      const auto found = records.find(origin);
      if (found == records.end() || !LessEqual(found->second.time, time)) return false;
      (*whole)[i] = found->second;
    }
    return true;
  }

  void Forget(const Inputs& inputs) {
    for (const ByOrigin& records : inputs) {
      for (const auto& [origin, waiting] : records) Count(*waiting.frame, -1);
    }
    charge_.Set(kept_bytes_);
  }

  const std::vector<RecordType> types_;
  std::vector<bool> is_held_;
  bool holds_ = false;
  std::map<Timestamp, Inputs> times_;
  std::map<Timestamp, Inputs> held_;  // by outer time
  Inputs nothing_;
  int64_t state_bytes_ = 0;
  int64_t spilled_bytes_ = 0;
  int64_t kept_bytes_ = 0;  // of records in memory
  MemoryCharge charge_;
};

}  // namespace

std::unique_ptr<Vertex> MakeZipVertex(const VertexSetup& setup) {
  return std::make_unique<ZipVertex>(setup);
}

}  // namespace weir
