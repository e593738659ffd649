#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "server/api/flow_calls.h"
#include "server/flows/flow_gateway.h"

namespace weir {
namespace {

constexpr absl::Duration kUsual = absl::Seconds(1);
constexpr absl::Duration kLeast = absl::Milliseconds(50);

// Looks from time to time, as long as somebody watches, and tells what has changed.
class WatchCall : public WriteCall<v1::FlowStatus> {
 public:
  WatchCall(const ServiceContext& context, const v1::WatchFlowRequest& request)
      : WriteCall(context, "Flows.Watch"),
        id_(request.id()),
        interval_(request.interval_ms() == 0
                      ? kUsual
                      : std::max(kLeast, absl::Milliseconds(request.interval_ms()))) {}

  void Look() {
    if (ended()) return;
    absl::StatusOr<v1::FlowStatus> status = FlowGateway(&coordinator()).Get(id_);
    if (!status.ok()) return End(status.status());
    is_last_ = HasEnded(status->job().state());
    v1::FlowStatus timeless = *status;
    timeless.clear_unix_ms();
    std::string content = timeless.SerializeAsString();
    if (content == told_) return Continue();
    told_ = std::move(content);
    message_ = *std::move(status);
    Write();
  }

 private:
  void Continue() override {
    if (is_last_) return End(absl::OkStatus());
    context().timers->PostAfter(interval_, [weak = std::weak_ptr<WatchCall>(SharedCall(this))] {
      if (auto call = weak.lock()) call->Look();
    });
  }

  const std::string id_;
  const absl::Duration interval_;
  std::string told_;
  bool is_last_ = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::FlowStatus>* BeginWatch(const ServiceContext& context,
                                                     const v1::WatchFlowRequest* request) {
  auto watch = MakeCall<WatchCall>(context, *request);
  watch->Look();
  return watch.get();
}

}  // namespace weir
