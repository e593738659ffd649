// How long calls of one kind take, from those that were: what tells short ones, which run on the
// event loop, from others. Owned by a VertexSlot; thread-compatible.
//
// A thread that the system takes from its processor for a while makes a call look long, so one call
// at most doubles what is expected of the next.
#ifndef WEIR_WORKER_FLOW_CALL_PACE_H_
#define WEIR_WORKER_FLOW_CALL_PACE_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace weir {

class CallPace {
 public:
  // A call of so many records, 1 at least, took so long.
  void Took(int64_t records, int64_t ns) {
    const double each = static_cast<double>(ns) / static_cast<double>(records);
    if (!ns_per_record_.has_value()) {
      ns_per_record_ = each;
    } else if (each > *ns_per_record_) {
      ns_per_record_ = std::min(each, 2 * *ns_per_record_ + 1);
    } else {
      ns_per_record_ = (3 * *ns_per_record_ + each) / 4;
    }
  }

  // What a call of so many records takes if it goes on as before; nothing before the first one.
  std::optional<int64_t> Predict(int64_t records) const {
    if (!ns_per_record_.has_value()) return std::nullopt;
    return static_cast<int64_t>(*ns_per_record_ * static_cast<double>(records));
  }

 private:
  std::optional<double> ns_per_record_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_CALL_PACE_H_
