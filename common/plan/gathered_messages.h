// Small parts on their way into a stream, one message of which is under way at a time: what comes
// meanwhile is gathered into messages that pass the limits of any gRPC peer. Thread-compatible.
//
//   gathered.ToAdd(bytes)->add_calls();     // `bytes` is about what is added
//   if (!gathered.empty()) gathered.TakeInto(&message);
#ifndef WEIR_COMMON_PLAN_GATHERED_MESSAGES_H_
#define WEIR_COMMON_PLAN_GATHERED_MESSAGES_H_

#include <cstddef>
#include <deque>

namespace weir {

template <class Message>
class GatheredMessages {
 public:
  // Returns: the last message, or a new one if that would become too large. A part that is larger
  // by itself has one alone.
  Message* ToAdd(size_t bytes) {
    if (messages_.empty() || last_bytes_ + bytes > kMostBytes) {
      messages_.emplace_back();
      last_bytes_ = 0;
    }
    last_bytes_ += bytes;
    return &messages_.back();
  }

  bool empty() const { return messages_.empty(); }

  // REQUIRES: it is not empty. Takes the oldest message.
  void TakeInto(Message* message) {
    message->Swap(&messages_.front());
    messages_.pop_front();
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 20;

  std::deque<Message> messages_;
  size_t last_bytes_ = 0;  // of the last one
};

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_GATHERED_MESSAGES_H_
