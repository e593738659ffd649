#include "server/flows/flow_batchers.h"

#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

// The only one, if none is named.
template <class Ports, class NameOf>
absl::StatusOr<std::string> OneOf(const Ports& ports, const std::string& named,
                                  std::string_view kind, NameOf name_of) {
  if (!named.empty()) return named;
  if (ports.size() == 1) return name_of(ports[0]);
  return InvalidArgument("the flow has ", ports.size(), " ", kind, "s; say which one to use");
}

}  // namespace

void FlowBatchers::Call(const v1::CallFlowRequest& request, std::vector<Tensor> record,
                        RequestBatcher::OnAnswer on_answer) {
  const absl::StatusOr<std::shared_ptr<RequestBatcher>> batcher = Find(request);
  if (!batcher.ok()) return on_answer(batcher.status());
  (*batcher)->Call(std::move(record), std::move(on_answer));
}

absl::StatusOr<v1::ExplainFrontierResponse> FlowBatchers::Explain(
    const v1::ExplainFrontierRequest& request) {
  WEIR_ASSIGN_OR_RETURN(v1::ExplainFrontierResponse response, gateway_.Explain(request));
  std::map<std::string, std::shared_ptr<RequestBatcher>> batchers;  // by input
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, batcher] : batchers_) {
      if (batcher->options().flow == request.id()) batchers[batcher->options().input] = batcher;
    }
  }
  for (const auto& [input, batcher] : batchers) {
    const std::string text = batcher->Explain();
    if (text.empty()) continue;
    StrAppend(response.mutable_text(), "  input '", input, "': ", text, "\n");
    for (v1::ExplainFrontierResponse::Wait& wait : *response.mutable_waits()) {
      if (wait.vertex() != input) continue;
      wait.set_detail(StrCat(wait.detail(), wait.detail().empty() ? "" : "; ", text));
    }
  }
  return response;
}

absl::StatusOr<std::shared_ptr<RequestBatcher>> FlowBatchers::Find(
    const v1::CallFlowRequest& request) {
  const Key asked = {request.id(), request.input(), request.output()};
  std::vector<std::shared_ptr<RequestBatcher>> over;  // let go of without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(batchers_, [&](const auto& item) {
    if (item.second->over().ok()) return false;
    over.push_back(item.second);
    return true;
  });
  const auto found = batchers_.find(asked);
  if (found != batchers_.end()) return found->second;
  WEIR_ASSIGN_OR_RETURN(const v1::FlowStatus status, gateway_.Get(request.id()));
  WEIR_ASSIGN_OR_RETURN(const std::string input,
                        OneOf(status.inputs(), request.input(), "input",
                              [](const v1::FlowStatus::Input& one) { return one.input().name(); }));
  WEIR_ASSIGN_OR_RETURN(const std::string output,
                        OneOf(status.outputs(), request.output(), "output",
                              [](const v1::FlowStatus::Output& one) { return one.name(); }));
  const Key named = {request.id(), input, output};
  std::shared_ptr<RequestBatcher>& batcher = batchers_[named];
  if (batcher == nullptr) {
    auto made = Make(named, status);
    if (!made.ok()) {
      batchers_.erase(named);
      return made.status();
    }
    batcher = *std::move(made);
  }
  batchers_[asked] = batcher;
  return batcher;
}

absl::StatusOr<std::shared_ptr<RequestBatcher>> FlowBatchers::Make(const Key& key,
                                                                   const v1::FlowStatus& status) {
  BatchingOptions options;
  std::tie(options.flow, options.input, options.output) = key;
  for (const v1::FlowStatus::Input& input : status.inputs()) {
    if (input.input().name() != options.input) continue;
    if (input.max_batch() > 0) options.max_records = input.max_batch();
    options.max_wait = absl::Microseconds(input.max_wait_us());
  }
  return RequestBatcher::Make(gateway_, std::move(options), timers_);
}

}  // namespace weir
