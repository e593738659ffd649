#include "worker/device/cpu/contraction/window_tables.h"

#include <algorithm>
#include <numeric>

namespace weir::cpu {
namespace {

Seen SeenFrom(const WindowSpan& span, int64_t out, int64_t element_step) {
  const int64_t start = out * span.stride - span.pad;
  // The first element at or behind the input's begin, then the first that lies on no hole; the
  // pattern of holes repeats after element_step elements.
  int64_t element = start >= 0 ? 0 : (-start + span.window_dilation - 1) / span.window_dilation;
  const int64_t limit = std::min(span.window, element + element_step);
  while (element < limit && (start + element * span.window_dilation) % span.in_dilation != 0) {
    ++element;
  }
  if (element >= limit) return {};
  const int64_t first = (start + element * span.window_dilation) / span.in_dilation;
  if (first >= span.in) return {};
  const int64_t input_step = element_step * span.window_dilation / span.in_dilation;
  const int64_t by_window = (span.window - element + element_step - 1) / element_step;
  const int64_t by_input = (span.in - first + input_step - 1) / input_step;
  return {element, first, std::min(by_window, by_input)};
}

int64_t ElementStep(const WindowSpan& span) {
  return span.in_dilation / std::gcd(span.in_dilation, span.window_dilation);
}

}  // namespace

int64_t FillSeen(const WindowSpan& span, Seen* seen) {
  const int64_t element_step = ElementStep(span);
  for (int64_t out = 0; out < span.out; ++out) seen[out] = SeenFrom(span, out, element_step);
  return element_step * span.window_dilation / span.in_dilation;
}

WindowTable::WindowTable(const WindowSpan& span) {
  element_step_ = ElementStep(span);
  input_step_ = element_step_ * span.window_dilation / span.in_dilation;
  segment_step_ = span.in_dilation == 1 ? span.stride : 0;
  seen_.reserve(span.out);
  for (int64_t out = 0; out < span.out; ++out) {
    const Seen seen = SeenFrom(span, out, element_step_);
    const bool joins =
        out > 0 && span.in_dilation == 1 && seen.count == seen_.back().count &&
        seen.first_element == seen_.back().first_element &&
        (seen.count == 0 || seen.first_input == seen_.back().first_input + span.stride);
    if (joins) {
      ++segments_.back().end;
    } else {
      segments_.push_back({out, out + 1});
    }
    seen_.push_back(seen);
  }
}

}  // namespace weir::cpu
