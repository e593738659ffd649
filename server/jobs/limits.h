// What the coordinator accepts and keeps. A plain value.
#ifndef WEIR_SERVER_JOBS_LIMITS_H_
#define WEIR_SERVER_JOBS_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace weir {

struct Limits {
  int max_jobs_in_flight = 4;  // running at the same time
  int max_queued_jobs = 1000;
  int max_kept_jobs = 1000;  // ended ones that can still be asked for
  int64_t max_kept_result_bytes = int64_t{1} << 30;
  int max_programs = 256;
  // Of one job; what one run prints is less. The newest are kept.
  int max_log_lines = 2000;
  size_t max_log_bytes = size_t{2} << 20;
  int max_lost_workers = 16;
  uint32_t max_repeat = 100'000;

  uint64_t max_program_bytes = uint64_t{512} << 20;
  uint64_t max_nodes = 1'000'000;
  uint64_t max_input_bytes = uint64_t{64} << 30;  // of one job
  int max_inputs = 4096;
  // Of one message: the inputs or results of Jobs.Run, and the chunks of a tensor.
  uint64_t inline_bytes = uint64_t{3} << 20;
  size_t chunk_bytes = size_t{1} << 20;
  size_t max_name_bytes = 256;  // of ids and labels
  int max_labels = 64;

  // Of flows. A batch that is alone may be larger than the bytes of its input.
  int max_flows = 100;                             // deployed at the same time
  int64_t flow_input_bytes = int64_t{16} << 20;    // of one input, not yet consumed by workers
  int64_t flow_channel_bytes = int64_t{16} << 20;  // FlowLimits.channel_bytes
  int64_t flow_window_bytes = int64_t{8} << 20;    // of one output, at a client
  uint64_t max_batch_bytes = uint64_t{256} << 20;

  // Of variables, on all workers together.
  size_t max_variables = 100'000;
  int64_t max_variable_bytes = int64_t{256} << 30;

  absl::Duration heartbeat = absl::Milliseconds(500);
  absl::Duration fence = absl::Seconds(2);       // a worker stops by itself
  absl::Duration lost_after = absl::Seconds(3);  // a worker is given up
  absl::Duration register_within = absl::Seconds(10);
  // How long a failure that looks like the consequence of another waits for its cause.
  absl::Duration cause_within = absl::Seconds(1);
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_LIMITS_H_
