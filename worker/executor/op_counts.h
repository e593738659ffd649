// How often each op was launched, how many elements it made, and how long it took. An activation
// makes the same at each of its runs, so what one run counts is computed once and then added as a
// whole; times are added step by step. Plain values; one run counts at a time.
#ifndef WEIR_WORKER_EXECUTOR_OP_COUNTS_H_
#define WEIR_WORKER_EXECUTOR_OP_COUNTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ops/op_def.h"

namespace weir {

class Activation;

// What one run of an activation counts, the regions inside of it excepted.
struct ActivationCounts {
  struct Op {
    size_t op = 0;  // index among AllOps()
    int64_t launches = 0;
    int64_t elements = 0;
  };
  std::vector<Op> ops;
  int64_t bytes_gathered = 0;

  static absl::StatusOr<ActivationCounts> Of(const Activation& activation);
};

class OpCounts {
 public:
  struct Count {
    int64_t launches = 0;
    int64_t elements = 0;
    int64_t ns = 0;  // of the launches that this op is the first of; loops without their bodies
  };

  OpCounts();
  void Add(const ActivationCounts& run);
  void Add(const OpCounts& other);
  void AddTime(const OpDef& op, int64_t ns);
  void AddGathered(int64_t bytes) { bytes_gathered_ += bytes; }

  // In the order of AllOps().
  const std::vector<Count>& counts() const { return counts_; }
  // REQUIRES: the op is registered.
  const Count& of(std::string_view op) const;
  int64_t bytes_gathered() const { return bytes_gathered_; }
  int64_t ns() const { return ns_; }  // of all ops

 private:
  std::vector<Count> counts_;
  int64_t bytes_gathered_ = 0;
  int64_t ns_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_OP_COUNTS_H_
