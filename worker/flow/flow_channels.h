// Bytes under way to the copies of each reader, and what is owed to those who sent. A channel leads
// from this worker to one input of one worker's copy (this one's included): a frame is under way
// until the call that takes it is over, however it travels. Owned by a FlowJob; thread-compatible.
#ifndef WEIR_WORKER_FLOW_FLOW_CHANNELS_H_
#define WEIR_WORKER_FLOW_FLOW_CHANNELS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/timely/topology.h"

namespace weir {

class FlowChannels {
 public:
  explicit FlowChannels(int workers) : sent_(workers, 0), received_(workers, 0) {}

  // --- What this worker sends.
  // Returns: the number of the next frame to another worker.
  uint64_t NextNumber(int rank) { return ++sent_[rank]; }
  // `hold` is let go of when the frame is not under way any more.
  void Sent(LocationId input, int rank, int64_t bytes, std::shared_ptr<void> hold);
  // So many bytes were taken there. Errors: InvalidArgument, more than are under way.
  absl::Status Taken(LocationId input, int rank, int64_t bytes);
  // Returns: of the channels to the copies of this input, the bytes on the fullest.
  int64_t UnderWay(LocationId input) const;
  int64_t bytes_under_way() const { return bytes_under_way_; }

  // --- What others send.
  // Errors: AlreadyExists or DataLoss, unless it is the next frame of that worker.
  absl::Status CheckNumber(int rank, uint64_t number);
  // So many bytes of a worker's frames were taken here.
  void Owe(int rank, LocationId input, int64_t bytes) { owed_[{rank, input}] += bytes; }
  // Returns: all that is owed since the last call.
  std::map<std::pair<int, LocationId>, int64_t> TakeOwed() { return std::exchange(owed_, {}); }

 private:
  struct Frame {
    int64_t bytes;
    std::shared_ptr<void> hold;
  };
  struct Channel {
    int64_t bytes = 0;
    int64_t taken = 0;  // of the first frame
    std::deque<Frame> frames;
  };

  std::vector<uint64_t> sent_;
  std::vector<uint64_t> received_;
  absl::flat_hash_map<std::pair<LocationId, int>, Channel> channels_;
  absl::flat_hash_map<LocationId, int64_t> fullest_;  // kept for inputs with something under way
  std::map<std::pair<int, LocationId>, int64_t> owed_;
  int64_t bytes_under_way_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FLOW_CHANNELS_H_
