// EventLoop: runs functions one after the other, now or at a time. State machines are driven by
// one, so that the same code runs on a thread and in a simulation.
//
// Thread-safe. Functions of one loop never run at the same time as each other.
#ifndef WEIR_COMMON_NET_EVENT_LOOP_H_
#define WEIR_COMMON_NET_EVENT_LOOP_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/base/clock.h"

namespace weir {

class EventLoop {
 public:
  virtual ~EventLoop() = default;

  // Runs `task` soon, behind those posted before; never on the stack of the caller.
  virtual void Post(std::function<void()> task) = 0;

  // Runs `task` once `delay` has passed. There is no cancelling: a task looks whether it still
  // applies.
  virtual void PostAfter(absl::Duration delay, std::function<void()> task) = 0;

  // Calls `work` and then, in place of the loop's own thread, runs what is ready until nothing is.
  // For a thread that posts something and has nothing else to do meanwhile: it spares the switch to
  // another thread and, where CPUs sleep, waking one. The caller may hold no mutex that tasks need.
  // Only `work` is called if the loop is at work already, or cannot run elsewhere.
  virtual void Visit(const std::function<void()>& work) { work(); }

  // The clock that delays are measured with.
  virtual Clock* clock() = 0;
};

// A loop with a thread of its own, named `name` in process listings. The destructor runs what was
// posted so far, drops what waits for a later time, and joins the thread (unless a task of the loop
// destroys it).
std::unique_ptr<EventLoop> MakeThreadEventLoop(const std::string& name);

}  // namespace weir

#endif  // WEIR_COMMON_NET_EVENT_LOOP_H_
