// How a thread becomes a compute thread, and the CPUs that compute threads may use.
#ifndef WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_
#define WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_

#include <vector>

namespace weir::cpu {

// CPUs by the numbers that the operating system gives them; empty: any that the process may use.
using CpuSet = std::vector<int>;

// Returns: part `index` of the process's CPUs cut into `parts` of adjacent ones, equal to within
// one; empty where there are fewer CPUs than parts.
CpuSet PartOfCpus(int index, int parts);

// Libraries called on this thread stay on it for as long as this lives: a team of OpenMP threads
// stalls for milliseconds when a core is busy. For a thread of somebody else, who may have other
// wishes.
class LibrariesOnThisThread {
 public:
  LibrariesOnThisThread();
  ~LibrariesOnThisThread();
  LibrariesOnThisThread(const LibrariesOnThisThread&) = delete;
  LibrariesOnThisThread& operator=(const LibrariesOnThisThread&) = delete;

 private:
  const int threads_before_;
};

// Makes libraries stay on the calling thread for good, keeps it on `cpus`, and lets threads that
// handle messages finish before it when it is woken (SCHED_BATCH).
void EnterComputeThread(const CpuSet& cpus);

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_
