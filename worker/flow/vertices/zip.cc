#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/flow/pairing.h"
#include "common/timely/outer_time.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/memory/table_vector.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

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
using Origins = absl::flat_hash_set<int64_t, absl::Hash<int64_t>, std::equal_to<int64_t>,
                                    TableAllocator<int64_t>>;

// What a time has until it is over.
struct TimeState {
  Inputs waiting;
  Origins paired;  // origins of what has gone on
};

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

// zip, and after, of which only input 0 comes out.
class ZipVertex : public Vertex {
 public:
  explicit ZipVertex(const VertexSetup& setup)
      : types_(setup.vertex().input_types),
        shown_(setup.vertex().kind == "after" ? 1 : types_.size()),
        is_held_(HeldInputs(setup.vertex())),
        holds_(std::find(is_held_.begin(), is_held_.end(), true) != is_held_.end()),
        stops_(StopsUnmatched(setup.vertex())) {}

  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override {
    WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<const WaitingFrame> frame,
                          Keep(std::move(batch), types_[input]));
    const Timestamp& time = activation->time();
    Inputs& held = HeldAt(time);
    if (!is_held_[input]) {
      TimeState& now = AtTime(time);
      WEIR_RETURN_IF_ERROR(AddAll(frame, time, input, now.paired, &now.waiting[input]));
      Match(frame->batch, time, &now, held, activation);
      charge_.Set(kept_bytes_);
      if (stops_) activation->NotifyAt(input, time);
      return absl::OkStatus();
    }
    WEIR_RETURN_IF_ERROR(AddAll(frame, time, input, {}, &held[input]));
    for (auto& [other, now] : times_) {
      const bool is_served = OuterOf(other) == OuterOf(time) && LessEqual(time, other);
      if (is_served) Match(frame->batch, other, &now, held, activation);
    }
    charge_.Set(kept_bytes_);
    return absl::OkStatus();
  }

  // Asked for only if what has no partner is an error.
  absl::Status OnNotify(VertexActivation* activation) override {
    const auto found = times_.find(activation->time());
    if (found == times_.end()) return absl::OkStatus();
    const Inputs& waiting = found->second.waiting;
    std::optional<int64_t> least;
    for (const ByOrigin& records : waiting) {
      for (const auto& [origin, record] : records) least = std::min(least.value_or(origin), origin);
    }
    if (!least.has_value()) return absl::OkStatus();
    size_t has = 0;
    while (!waiting[has].contains(*least)) ++has;
    size_t missing = 0;
    while (Find(missing, *least, found->first, waiting, HeldAt(found->first)) != nullptr) ++missing;
    return NoPartner(*least, static_cast<int64_t>(has), static_cast<int64_t>(missing));
  }

  bool keeps_state() const override { return true; }
  int64_t OnOver(const Timestamp& time) override {
    const auto found = times_.find(time);
    if (found == times_.end()) return 0;
    int64_t in_vain = 0;
    for (const ByOrigin& records : found->second.waiting) {
      in_vain += static_cast<int64_t>(records.size());
    }
    Forget(found->second.waiting);
    state_bytes_ -= static_cast<int64_t>(found->second.paired.size()) * kPairedBytes;
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
  static constexpr int64_t kPairedBytes = 2 * sizeof(int64_t);

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

  TimeState& AtTime(const Timestamp& time) {
    const auto [found, is_new] = times_.try_emplace(time);
    if (is_new) found->second.waiting.resize(types_.size());
    return found->second;
  }
  Inputs& HeldAt(const Timestamp& time) {
    if (!holds_) return nothing_;
    return held_.try_emplace(OuterOf(time), types_.size()).first->second;
  }

  absl::Status AddAll(const std::shared_ptr<const WaitingFrame>& frame, const Timestamp& time,
                      int input, const Origins& paired, ByOrigin* records) {
    const RecordBatch& batch = frame->batch;
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t origin = batch.origin(row);
      if (batch.weight(row) != 1 || paired.contains(origin) ||
          !records->try_emplace(origin, Waiting{frame, row, time}).second) {
        return MoreThanOne(input, origin);
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
  void Match(const RecordBatch& frame, const Timestamp& time, TimeState* now, const Inputs& held,
             VertexActivation* activation) {
    std::vector<std::vector<Waiting>> rows(shown_);
    for (int64_t row = 0; row < frame.size(); ++row) {
      const int64_t origin = frame.origin(row);
      if (!IsWhole(origin, time, now->waiting, held)) continue;
      for (size_t i = 0; i < shown_; ++i) {
        rows[i].push_back(*Find(i, origin, time, now->waiting, held));
      }
      for (ByOrigin& records : now->waiting) {
        const auto taken = records.find(origin);
        if (taken == records.end()) continue;
        Count(*taken->second.frame, -1);
        records.erase(taken);
      }
      now->paired.insert(origin);
      state_bytes_ += kPairedBytes;
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

  // The record of an origin that is or serves at `time`, or null.
  const Waiting* Find(size_t input, int64_t origin, const Timestamp& time, const Inputs& waiting,
                      const Inputs& held) const {
    const ByOrigin& records = is_held_[input] ? held[input] : waiting[input];
    const auto found = records.find(origin);
    const bool is = found != records.end() && LessEqual(found->second.time, time);
    return is ? &found->second : nullptr;
  }
  // Whether each input has one.
  bool IsWhole(int64_t origin, const Timestamp& time, const Inputs& waiting,
               const Inputs& held) const {
    for (size_t i = 0; i < types_.size(); ++i) {
      if (Find(i, origin, time, waiting, held) == nullptr) return false;
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
  const size_t shown_;  // inputs whose columns come out
  const std::vector<bool> is_held_;
  const bool holds_;
  const bool stops_;
  std::map<Timestamp, TimeState> times_;
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
