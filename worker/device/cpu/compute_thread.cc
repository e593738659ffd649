#include "worker/device/cpu/compute_thread.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>

namespace weir::cpu {
namespace {

CpuSet CpusOfProcess() {
  cpu_set_t allowed;
  CpuSet cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace

CpuSet PartOfCpus(int index, int parts) {
  const CpuSet cpus = CpusOfProcess();
  const size_t count = cpus.size();
  if (count < static_cast<size_t>(parts)) return {};
  return CpuSet(cpus.begin() + count * index / parts, cpus.begin() + count * (index + 1) / parts);
}

LibrariesOnThisThread::LibrariesOnThisThread() : threads_before_(omp_get_max_threads()) {
  omp_set_num_threads(1);
}

LibrariesOnThisThread::~LibrariesOnThisThread() { omp_set_num_threads(threads_before_); }

void EnterComputeThread(const CpuSet& cpus) {
  omp_set_num_threads(1);
  const sched_param priority{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
  if (cpus.empty()) return;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (int cpu : cpus) CPU_SET(cpu, &wanted);
  // A container may have lost a CPU since; the thread then stays where it may run.
  pthread_setaffinity_np(pthread_self(), sizeof wanted, &wanted);
}

}  // namespace weir::cpu
