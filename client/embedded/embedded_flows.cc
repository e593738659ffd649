#include "client/embedded/embedded_flows.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

// Whether it is worth to ask the coordinator again. Shared with its callback, which may be late.
struct News {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_news = false;
  bool is_closed = false;
};

class EmbeddedFlowStream : public FlowStream {
 public:
  EmbeddedFlowStream(FlowGateway gateway, uint64_t attachment, std::shared_ptr<News> news)
      : gateway_(gateway), attachment_(attachment), news_(std::move(news)) {}
  ~EmbeddedFlowStream() override { gateway_.Detach(attachment_); }

  absl::Status Send(const ToFlow& message) override {
    if (IsClosed()) return absl::CancelledError("the connection to the flow was closed");
    return gateway_.Take(attachment_, message);
  }

  absl::StatusOr<FromFlow> Next() override {
    while (!IsClosed()) {
      WEIR_ASSIGN_OR_RETURN(std::optional<FromFlow> next, gateway_.Next(attachment_));
      if (next.has_value()) return *std::move(next);
      std::unique_lock lock(news_->mutex);
      news_->changed.wait(lock, [this] { return news_->has_news || news_->is_closed; });
      news_->has_news = false;
    }
    return absl::CancelledError("the connection to the flow was closed");
  }

  void Close() override {
    std::lock_guard lock(news_->mutex);
    news_->is_closed = true;
    news_->changed.notify_all();
  }

 private:
  bool IsClosed() const {
    std::lock_guard lock(news_->mutex);
    return news_->is_closed;
  }

  const FlowGateway gateway_;
  const uint64_t attachment_;
  const std::shared_ptr<News> news_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FlowStream>> AttachHere(const FlowGateway& gateway,
                                                       const v1::FlowAttach& request) {
  auto news = std::make_shared<News>();
  WEIR_ASSIGN_OR_RETURN(const uint64_t attachment, gateway.Attach(request, [news] {
    std::lock_guard lock(news->mutex);
    news->has_news = true;
    news->changed.notify_all();
  }));
  return std::make_unique<EmbeddedFlowStream>(gateway, attachment, std::move(news));
}

}  // namespace weir
