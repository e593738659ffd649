// How a thread becomes a compute thread.
#ifndef WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_
#define WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_

namespace weir::cpu {

// Makes libraries called on this thread stay on it: a team of OpenMP threads stalls for
// milliseconds when a core is busy.
void EnterComputeThread();

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_COMPUTE_THREAD_H_
