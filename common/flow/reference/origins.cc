// merge, zip, after: records told apart by their origins.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/flow/pairing.h"
#include "common/flow/reference/reference_vertex.h"

namespace weir {
namespace {

using ByOrigin = std::map<int64_t, RecordBytes>;

// zip, and after, of which only input 0 comes out.
class ReferenceZip : public ReferenceVertex {
 public:
  explicit ReferenceZip(const FlowVertex& vertex)
      : is_held_(HeldInputs(vertex)),
        shown_(vertex.kind == "after" ? 1 : is_held_.size()),
        stops_(StopsUnmatched(vertex)) {}

  absl::Status Run(ReferenceStep* step) override {
    const absl::Span<const int64_t> all = step->time.coordinates();
    std::vector<ByOrigin>& held = held_[Coordinates(all.begin(), all.end() - 1)];
    held.resize(is_held_.size());
    std::vector<ByOrigin> now(is_held_.size());
    for (size_t i = 0; i < is_held_.size(); ++i) {
      WEIR_RETURN_IF_ERROR(AddAll(step->inputs[i], i, is_held_[i] ? &held[i] : &now[i]));
    }
    std::set<int64_t> origins;
    for (const ByOrigin& records : now) {
      for (const auto& [origin, record] : records) origins.insert(origin);
    }
    RecordBag out;
    for (const int64_t origin : origins) {
      WEIR_RETURN_IF_ERROR(Pair(origin, now, held, step, &out));
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  absl::Status Pair(int64_t origin, const std::vector<ByOrigin>& now,
                    const std::vector<ByOrigin>& held, ReferenceStep* step, RecordBag* out) const {
    RecordBytes together;
    std::vector<size_t> missing;
    std::vector<size_t> waiting;
    for (size_t i = 0; i < is_held_.size(); ++i) {
      const ByOrigin& records = is_held_[i] ? held[i] : now[i];
      const auto record = records.find(origin);
      if (record == records.end()) {
        missing.push_back(i);
        continue;
      }
      if (!is_held_[i]) waiting.push_back(i);
      if (i < shown_) together = Joined(std::move(together), record->second);
    }
    if (missing.empty()) {
      out->Add(origin, together, 1);
    } else if (stops_) {
      return NoPartner(origin, waiting[0], missing[0]);
    } else {
      step->dropped += static_cast<int64_t>(waiting.size());
    }
    return absl::OkStatus();
  }

  static absl::Status AddAll(const RecordBag& bag, size_t input, ByOrigin* records) {
    for (const auto& [key, weight] : bag) {
      if (weight != 1 || !records->emplace(key.origin, key.record).second) {
        return MoreThanOne(input, key.origin);
      }
    }
    return absl::OkStatus();
  }

  const std::vector<bool> is_held_;
  const size_t shown_;
  const bool stops_;
  std::map<Coordinates, std::vector<ByOrigin>> held_;  // by outer time, then by input
};

class ReferenceMerge : public ReferenceVertex {
 public:
  absl::Status Run(ReferenceStep* step) override {
    std::set<int64_t> origins;
    RecordBag out;
    for (size_t i = 0; i < step->inputs.size(); ++i) {
      for (const auto& [key, weight] : step->inputs[i]) {
        if (weight != 1 || !origins.insert(key.origin).second) {
          return MoreThanOneToMerge(key.origin);
        }
      }
      out.AddAll(step->inputs[i]);
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceOrigins(const FlowVertex& vertex) {
  if (vertex.kind == "merge") return std::make_unique<ReferenceMerge>();
  const bool pairs = vertex.kind == "zip" || vertex.kind == "after";
  return pairs ? std::make_unique<ReferenceZip>(vertex) : nullptr;
}

}  // namespace weir
