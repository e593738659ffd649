// WriteTurn: lets one of many threads write at a time, without waiting: who finds a writer at work
// leaves a note, and the writer goes round once more. Thread-safe.
//
//   if (!turn.Enter()) return;
//   do Write(); while (!turn.Leave());
#ifndef WEIR_COMMON_NET_WRITE_TURN_H_
#define WEIR_COMMON_NET_WRITE_TURN_H_

#include <atomic>

namespace weir {

class WriteTurn {
 public:
  // Returns: whether the caller has the turn now.
  bool Enter() {
    State idle = State::kIdle;
    if (state_.compare_exchange_strong(idle, State::kWriting)) return true;
    // Somebody writes, or just stopped: the exchange tells which.
    if (state_.exchange(State::kAsked) != State::kIdle) return false;
    state_.store(State::kWriting);
    return true;
  }

  // Gives the turn up. Returns: false, with the turn kept, if somebody asked for it in between.
  bool Leave() {
    State writing = State::kWriting;
    if (state_.compare_exchange_strong(writing, State::kIdle)) return true;
    state_.store(State::kWriting);
    return false;
  }

 private:
  enum class State { kIdle, kWriting, kAsked };
  std::atomic<State> state_{State::kIdle};
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_WRITE_TURN_H_
