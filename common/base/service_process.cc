#include "common/base/service_process.h"

#include <atomic>

#include "absl/synchronization/mutex.h"
#include "common/base/aligned_memory.h"

namespace weir {
namespace {

std::atomic<bool> serves{false};

}  // namespace

void BecomeServiceProcess() {
  serves = true;
  LimitKeptMemory();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

void ReleaseReceivedMemory() {
  if (serves) ReleaseKeptMemory();
}

}  // namespace weir
