#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/flow/reference/reference_vertex.h"

namespace weir {
namespace {

using ByOrigin = std::map<int64_t, RecordBytes>;

class ReferenceZip : public ReferenceVertex {
 public:
  explicit ReferenceZip(const FlowVertex& vertex) : inputs_(vertex.inputs.size()) {
    if (const Attr* hold = vertex.FindAttr("hold")) {
      held_inputs_.insert(hold->AsInts().begin(), hold->AsInts().end());
    }
  }

  absl::Status Run(ReferenceStep* step) override {
    const absl::Span<const int64_t> all = step->time.coordinates();
    std::vector<ByOrigin>& held = held_[Coordinates(all.begin(), all.end() - 1)];
    held.resize(inputs_);
    std::vector<ByOrigin> now(inputs_);
    for (size_t i = 0; i < inputs_; ++i) {
      ByOrigin* records = held_inputs_.contains(i) ? &held[i] : &now[i];
      WEIR_RETURN_IF_ERROR(AddAll(step->inputs[i], i, records));
    }
    RecordBag out;
    std::set<int64_t> origins;
    for (const ByOrigin& records : now) {
      for (const auto& [origin, record] : records) origins.insert(origin);
    }
    for (const int64_t origin : origins) {
      RecordBytes together;
      size_t found = 0;
      int64_t waiting = 0;
      for (size_t i = 0; i < inputs_; ++i) {
        const ByOrigin& records = held_inputs_.contains(i) ? held[i] : now[i];
        const auto record = records.find(origin);
        if (record == records.end()) continue;
        ++found;
        if (!held_inputs_.contains(i)) ++waiting;
        together = Joined(std::move(together), record->second);
      }
      if (found == inputs_) {
        out.Add(origin, together, 1);
      } else {
        step->dropped += waiting;
      }
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  static absl::Status AddAll(const RecordBag& bag, size_t input, ByOrigin* records) {
    for (const auto& [key, weight] : bag) {
      if (weight != 1 || !records->emplace(key.origin, key.record).second) {
        return InvalidArgument("input ", input, " has more than one record of origin ", key.origin,
                               ", or one whose weight is not 1");
      }
    }
    return absl::OkStatus();
  }

  const size_t inputs_;
  std::set<size_t> held_inputs_;
  std::map<Coordinates, std::vector<ByOrigin>> held_;  // by outer time, then by input
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceZip(const FlowVertex& vertex) {
  return vertex.kind == "zip" ? std::make_unique<ReferenceZip>(vertex) : nullptr;
}

}  // namespace weir
