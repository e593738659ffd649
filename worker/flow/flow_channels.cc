#include "worker/flow/flow_channels.h"

#include <algorithm>

#include "common/base/status.h"

namespace weir {

void FlowChannels::Sent(LocationId input, int rank, int64_t bytes, std::shared_ptr<void> hold) {
  Channel& channel = channels_[{input, rank}];
  channel.frames.push_back({bytes, std::move(hold)});
  channel.bytes += bytes;
  bytes_under_way_ += bytes;
  int64_t& fullest = fullest_[input];
  fullest = std::max(fullest, channel.bytes);
}

absl::Status FlowChannels::Taken(LocationId input, int rank, int64_t bytes) {
  const auto found = channels_.find({input, rank});
  if (bytes < 0 || found == channels_.end() || bytes > found->second.bytes - found->second.taken) {
    return InvalidArgument("worker of rank ", rank, " has taken ", bytes,
                           " bytes more than were under way to it");
  }
  Channel& channel = found->second;
  const int64_t before = channel.bytes;
  channel.taken += bytes;
  while (!channel.frames.empty() && channel.frames.front().bytes <= channel.taken) {
    const int64_t frame = channel.frames.front().bytes;
    channel.taken -= frame;
    channel.bytes -= frame;
    bytes_under_way_ -= frame;
    channel.frames.pop_front();
  }
  const bool was_fullest = before == fullest_[input];
  if (channel.frames.empty()) channels_.erase(found);
  if (!was_fullest) return absl::OkStatus();
  int64_t fullest = 0;
  for (int r = 0; r < static_cast<int>(sent_.size()); ++r) {
    const auto other = channels_.find({input, r});
    if (other != channels_.end()) fullest = std::max(fullest, other->second.bytes);
  }
  if (fullest == 0) {
    fullest_.erase(input);
  } else {
    fullest_[input] = fullest;
  }
  return absl::OkStatus();
}

int64_t FlowChannels::UnderWay(LocationId input) const {
  const auto found = fullest_.find(input);
  return found == fullest_.end() ? 0 : found->second;
}

absl::Status FlowChannels::CheckNumber(int rank, uint64_t number) {
  const uint64_t due = received_[rank] + 1;
  if (number < due) {
    return absl::AlreadyExistsError(
        StrCat("frame ", number, " of worker ", rank, " came again; ", due, " is due"));
  }
  if (number > due) {
    return absl::DataLossError(StrCat("frame ", number, " of worker ", rank, " came while ", due,
                                      " is due: one was lost or overtaken"));
  }
  received_[rank] = number;
  return absl::OkStatus();
}

}  // namespace weir
