// Which window elements see which input positions, for sliding windows over up to three axes:
// computed once for the sizes, so that the loops that use it neither divide nor compare. Immutable;
// usable from any thread.
#ifndef WEIR_WORKER_DEVICE_CPU_CONTRACTION_WINDOW_TABLES_H_
#define WEIR_WORKER_DEVICE_CPU_CONTRACTION_WINDOW_TABLES_H_

#include <cstdint>
#include <vector>

namespace weir::cpu {

// One axis of a sliding window.
struct WindowSpan {
  int64_t in = 1;
  int64_t out = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t pad = 0;  // before the first element; may be negative
  int64_t in_dilation = 1;
  int64_t window_dilation = 1;

  friend bool operator==(const WindowSpan&, const WindowSpan&) = default;
};

// The elements that see input from one output position: first_element + i * element_step sees
// first_input + i * input_step, for i in [0, count).
struct Seen {
  int64_t first_element = 0;
  int64_t first_input = 0;
  int64_t count = 0;
};

// Neighbouring output positions [begin, end) that see the same elements.
struct Segment {
  int64_t begin = 0;
  int64_t end = 0;
};

// Fills `seen` for every output position. Returns: input_step. For callers with memory of their
// own.
int64_t FillSeen(const WindowSpan& span, Seen* seen);

class WindowTable {
 public:
  WindowTable() = default;
  // Work: out * window, once.
  explicit WindowTable(const WindowSpan& span);

  const Seen& at(int64_t out) const { return seen_[out]; }
  int64_t element_step() const { return element_step_; }
  int64_t input_step() const { return input_step_; }
  // In a segment, first_input grows by this from one position to the next.
  int64_t segment_step() const { return segment_step_; }
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  int64_t element_step_ = 1;
  int64_t input_step_ = 1;
  int64_t segment_step_ = 1;
  std::vector<Seen> seen_;
  std::vector<Segment> segments_;
};

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_CONTRACTION_WINDOW_TABLES_H_
