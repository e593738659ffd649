// Makes texts from texts by seeded changes: characters taken away, repeated, replaced, and
// fragments put in. For tests of parsers; used by one thread.
#ifndef WEIR_COMMON_IR_TEXT_MUTATION_TESTING_H_
#define WEIR_COMMON_IR_TEXT_MUTATION_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace weir {

class TextMutator {
 public:
  // REQUIRES: there is a fragment; they outlive this.
  TextMutator(uint32_t seed, absl::Span<const std::string_view> fragments)
      : random_(seed), fragments_(fragments) {}

  // Returns: one of the texts after one to four changes.
  std::string Mutate(absl::Span<const std::string_view> texts) {
    std::string text(texts[Pick(texts.size())]);
    for (size_t changes = 1 + Pick(4); changes > 0; --changes) Change(&text);
    return text;
  }

 private:
  size_t Pick(size_t limit) { return random_() % limit; }
  std::string_view Fragment() { return fragments_[Pick(fragments_.size())]; }

  void Change(std::string* text) {
    const size_t at = Pick(text->size() + 1);
    const size_t length = Pick(Pick(8) == 0 ? 200 : 8);
    switch (Pick(6)) {
      case 0:
        text->erase(at, length);
        break;
      case 1:
        text->insert(at, Fragment());
        break;
      case 2:
        text->insert(at, text->substr(Pick(text->size() + 1), length));
        break;
      case 3:
        if (at < text->size()) (*text)[at] = static_cast<char>(random_());
        break;
      case 4:
        text->replace(at, std::min(length, text->size() - at), Fragment());
        break;
      default:
        if (Pick(4) == 0) text->resize(at);
    }
  }

  std::mt19937 random_;
  const absl::Span<const std::string_view> fragments_;
};

}  // namespace weir

#endif  // WEIR_COMMON_IR_TEXT_MUTATION_TESTING_H_
