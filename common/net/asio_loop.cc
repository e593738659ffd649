#include "common/net/asio_loop.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

namespace weir {

void AsioLoop::Detach() {
  std::lock_guard lock(mutex_);
  context_ = nullptr;
}

void AsioLoop::Post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (context_ != nullptr) boost::asio::post(*context_, std::move(task));
}

void AsioLoop::PostAfter(absl::Duration delay, std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (context_ == nullptr) return;
  auto timer = std::make_shared<boost::asio::steady_timer>(*context_);
  timer->expires_after(absl::ToChronoNanoseconds(delay));
  timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& error) {
    if (!error) task();
  });
}

}  // namespace weir
