// AsioLoop: the event loop of an io_context; inside of tcp_link. Thread-safe.
#ifndef WEIR_COMMON_NET_ASIO_LOOP_H_
#define WEIR_COMMON_NET_ASIO_LOOP_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <mutex>

#include "common/net/event_loop.h"

namespace weir {

class AsioLoop : public EventLoop {
 public:
  // REQUIRES: one thread runs the context, which outlives the loop unless detached from it.
  explicit AsioLoop(boost::asio::io_context* context) : context_(context) {}

  // From now on tasks are dropped.
  void Detach();

  void Post(std::function<void()> task) override;
  void PostAfter(absl::Duration delay, std::function<void()> task) override;
  Clock* clock() override { return RealClock(); }

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_;  // null once detached
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_ASIO_LOOP_H_
