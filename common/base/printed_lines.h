// Lines of text that one run printed, in the order of their places, whichever came first. Keeps the
// first of them within limits. Thread-compatible.
#ifndef WEIR_COMMON_BASE_PRINTED_LINES_H_
#define WEIR_COMMON_BASE_PRINTED_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir {

// Where a line stands: for each loop around it, outermost first, its number in the program and the
// iteration; then the number of the op. Compared from left to right.
using LinePlace = std::vector<int64_t>;

class PrintedLines {
 public:
  static constexpr size_t kMaxLines = 1000;
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // Lines of equal places stay in the order in which they came.
  void Add(LinePlace place, std::string text);
  // REQUIRES: `other` is another one.
  void Add(PrintedLines&& other);
  void NoteDropped(int64_t lines);

  const std::multimap<LinePlace, std::string>& lines() const { return lines_; }
  // How many more there were.
  int64_t dropped() const { return dropped_; }
  bool empty() const { return lines_.empty() && dropped_ == 0; }

 private:
  std::multimap<LinePlace, std::string> lines_;
  size_t bytes_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_BASE_PRINTED_LINES_H_
