#include "client/embedded/embedded_caller.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace weir {
namespace {

// Calls that are not answered. Shared with the flow, which may answer when the caller is gone.
class OpenCalls {
 public:
  uint64_t Add(FlowCaller::OnAnswer on_answer) {
    std::lock_guard lock(mutex_);
    open_.emplace(next_number_, std::move(on_answer));
    return next_number_++;
  }

  void Answer(uint64_t number, absl::StatusOr<std::vector<Tensor>> columns) {
    FlowCaller::OnAnswer on_answer;
    {
      std::lock_guard lock(mutex_);
      const auto call = open_.find(number);
      if (call == open_.end()) return;
      on_answer = std::move(call->second);
      open_.erase(call);
      ++answering_;
    }
    on_answer(std::move(columns));
    std::lock_guard lock(mutex_);
    --answering_;
    quiet_.notify_all();
  }

  // Returns when no answer is being given any more.
  void Close(const absl::Status& why) {
    std::unique_lock lock(mutex_);
    std::map<uint64_t, FlowCaller::OnAnswer> open = std::exchange(open_, {});
    lock.unlock();
    for (auto& [number, on_answer] : open) on_answer(why);
    lock.lock();
    quiet_.wait(lock, [this] { return answering_ == 0; });
  }

 private:
  std::mutex mutex_;  // guards all of it
  std::condition_variable quiet_;
  std::map<uint64_t, FlowCaller::OnAnswer> open_;
  uint64_t next_number_ = 1;
  int answering_ = 0;
};

class EmbeddedCaller : public FlowCaller {
 public:
  EmbeddedCaller(FlowBatchers* batchers, v1::CallFlowRequest request)
      : batchers_(batchers), request_(std::move(request)) {}
  ~EmbeddedCaller() override { open_->Close(absl::CancelledError("the caller is gone")); }

  void Call(const std::vector<Tensor>& record, OnAnswer on_answer) override {
    batchers_->Call(request_, record,
                    [open = open_, number = open_->Add(std::move(on_answer))](
                        absl::StatusOr<std::vector<Tensor>> columns) {
                      open->Answer(number, std::move(columns));
                    });
  }

 private:
  FlowBatchers* const batchers_;
  const v1::CallFlowRequest request_;
  const std::shared_ptr<OpenCalls> open_ = std::make_shared<OpenCalls>();
};

}  // namespace

std::unique_ptr<FlowCaller> MakeEmbeddedCaller(FlowBatchers* batchers,
                                               v1::CallFlowRequest request) {
  return std::make_unique<EmbeddedCaller>(batchers, std::move(request));
}

}  // namespace weir
