// enter, leave, feedback, delay, window. A time beyond int64 is none: what would have it is
// dropped.
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "common/flow/reference/reference_vertex.h"

namespace weir {
namespace {

std::optional<int64_t> SumOf(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

Coordinates CoordinatesOf(const Timestamp& time) {
  return Coordinates(time.coordinates().begin(), time.coordinates().end());
}

class ReferenceEnter : public ReferenceVertex {
 public:
  explicit ReferenceEnter(const FlowVertex& vertex) : trip_(vertex.IntOr("trip", 0)) {}

  absl::Status Run(ReferenceStep* step) override {
    Coordinates inside = CoordinatesOf(step->time);
    inside.push_back(trip_);
    step->Send(0, Timestamp(std::move(inside)), step->inputs[0]);
    return absl::OkStatus();
  }

 private:
  const int64_t trip_;
};

class ReferenceLeave : public ReferenceVertex {
 public:
  absl::Status Run(ReferenceStep* step) override {
    Coordinates outside = CoordinatesOf(step->time);
    outside.pop_back();
    step->Send(0, Timestamp(std::move(outside)), step->inputs[0]);
    return absl::OkStatus();
  }
};

class ReferenceFeedback : public ReferenceVertex {
 public:
  explicit ReferenceFeedback(const FlowVertex& vertex)
      : bound_(vertex.IntOr("bound", std::numeric_limits<int64_t>::max())) {}

  absl::Status Run(ReferenceStep* step) override {
    Coordinates next = CoordinatesOf(step->time);
    if (next.back() >= bound_ - 1) {
      step->dropped = step->inputs[0].size();
      return absl::OkStatus();
    }
    ++next.back();
    step->Send(0, Timestamp(std::move(next)), step->inputs[0]);
    return absl::OkStatus();
  }

 private:
  const int64_t bound_;
};

class ReferenceDelay : public ReferenceVertex {
 public:
  explicit ReferenceDelay(const FlowVertex& vertex) : epochs_(vertex.attr("epochs").AsInt()) {}

  absl::Status Run(ReferenceStep* step) override {
    Coordinates later = CoordinatesOf(step->time);
    const std::optional<int64_t> epoch = SumOf(later[0], epochs_);
    if (!epoch) return absl::OkStatus();
    later[0] = *epoch;
    step->Send(0, Timestamp(std::move(later)), step->inputs[0]);
    return absl::OkStatus();
  }

 private:
  const int64_t epochs_;
};

class ReferenceWindow : public ReferenceVertex {
 public:
  explicit ReferenceWindow(const FlowVertex& vertex)
      : size_(vertex.attr("size").AsInt()), slide_(vertex.IntOr("slide", size_)) {}

  absl::Status Run(ReferenceStep* step) override {
    const int64_t epoch = step->time.epoch();
    for (int64_t k = epoch / slide_; k >= 0 && epoch - k * slide_ < size_; --k) {
      const std::optional<int64_t> last = SumOf(k * slide_, size_ - 1);
      if (last) step->Send(0, Timestamp({*last}), step->inputs[0]);
    }
    return absl::OkStatus();
  }

 private:
  const int64_t size_;
  const int64_t slide_;
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceTimes(const FlowVertex& vertex) {
  if (vertex.kind == "enter") return std::make_unique<ReferenceEnter>(vertex);
  if (vertex.kind == "leave") return std::make_unique<ReferenceLeave>();
  if (vertex.kind == "feedback") return std::make_unique<ReferenceFeedback>(vertex);
  if (vertex.kind == "delay") return std::make_unique<ReferenceDelay>(vertex);
  if (vertex.kind == "window") return std::make_unique<ReferenceWindow>(vertex);
  return nullptr;
}

}  // namespace weir
