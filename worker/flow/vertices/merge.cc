#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/flow/pairing.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

class MergeVertex : public Vertex {
 public:
  absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override {
    absl::flat_hash_set<int64_t>& origins = origins_[activation->time()];
    for (int64_t row = 0; row < batch.size(); ++row) {
      const int64_t origin = batch.origin(row);
      if (batch.weight(row) != 1 || !origins.insert(origin).second) {
        return MoreThanOneToMerge(origin);
      }
    }
    count_ += batch.size();
    if (!batch.empty()) activation->Send(0, activation->time(), std::move(batch));
    return absl::OkStatus();
  }

  bool keeps_state() const override { return true; }
  int64_t OnOver(const Timestamp& time) override {
    const auto found = origins_.find(time);
    if (found == origins_.end()) return 0;
    count_ -= static_cast<int64_t>(found->second.size());
    origins_.erase(found);
    return 0;
  }

  int64_t state_bytes() const override { return count_ * int64_t{2 * sizeof(int64_t)}; }

 private:
  std::map<Timestamp, absl::flat_hash_set<int64_t>> origins_;  // that have come
  int64_t count_ = 0;                                          // of all times
};

}  // namespace

std::unique_ptr<Vertex> MakeMergeVertex(const VertexSetup&) {
  return std::make_unique<MergeVertex>();
}

}  // namespace weir
