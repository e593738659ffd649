#include "common/base/service_process.h"

#include "absl/synchronization/mutex.h"
#include "common/base/aligned_memory.h"

namespace weir {

void BecomeServiceProcess() {
  LimitKeptMemory();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace weir
