// The streams and the text of a random flow while it is drawn (random_flow_text_testing.h). Used by
// one thread.
#ifndef WEIR_COMMON_FLOW_RANDOM_STREAMS_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_STREAMS_TESTING_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/str_cat.h"
#include "common/flow/record_batch.h"

namespace weir {

class RandomStreams {
 public:
  struct Stream {
    std::string name;
    std::string scope;  // the innermost loop; empty outside
    RecordType type;
    bool is_signed = false;  // weights may be below zero
    bool is_heavy = false;   // weights may be large
    bool is_many = false;    // there may be so many records that nobody wants all pairs
    // At one time, one record of each origin at most, with weight 1; and at all times of the loop.
    bool is_unique = false;
    bool is_once = false;
    bool is_read = false;
  };

  explicit RandomStreams(Random* random) : random_(*random) {}

  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_.Below(bound)); }
  bool Chance(double probability) { return random_.Chance(probability); }

  Stream& at(size_t stream) { return streams_[stream]; }
  size_t size() const { return streams_.size(); }
  std::string& text() { return text_; }

  size_t Add(Stream stream) {
    stream.is_read = false;
    streams_.push_back(std::move(stream));
    return streams_.size() - 1;
  }

  // `%v3 = kind(%v1, %v2) {attributes}`, with the streams that it gives; they are unique if they
  // are said to be and the kind makes no two records of one. Returns: the first.
  size_t AddVertex(std::string_view kind, const std::vector<size_t>& inputs,
                   std::string_view attributes, std::vector<Stream> outputs) {
    const bool keeps_records = kKeepsRecords.contains(kind);
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].is_unique &= keeps_records;
      outputs[i].is_once &= keeps_records;
      outputs[i].name = StrCat("v", count_++);
      StrAppend(&text_, i == 0 ? "  %" : ", %", outputs[i].name);
    }
    StrAppend(&text_, " = ", kind, "(");
    for (size_t i = 0; i < inputs.size(); ++i) {
      StrAppend(&text_, i == 0 ? "%" : ", %", streams_[inputs[i]].name);
      streams_[inputs[i]].is_read = true;
    }
    StrAppend(&text_, ")", attributes.empty() ? "" : StrCat(" {", attributes, "}"), "\n");
    const size_t first = Add(outputs[0]);
    for (size_t i = 1; i < outputs.size(); ++i) Add(outputs[i]);
    return first;
  }

  // A stream of this scope, mostly one that nobody reads yet.
  size_t Any(const std::string& scope) {
    std::vector<size_t> all;
    std::vector<size_t> unread;
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].scope != scope) continue;
      all.push_back(i);
      if (!streams_[i].is_read) unread.push_back(i);
    }
    if (!unread.empty() && random_.Chance(0.8)) all = std::move(unread);
    return all[Below(static_cast<int64_t>(all.size()))];
  }

  // One with records of the same type as the stream, maybe itself.
  size_t Like(size_t stream) {
    for (int tries = 0; tries < 4; ++tries) {
      const size_t other = Any(streams_[stream].scope);
      if (streams_[other].type == streams_[stream].type) return other;
    }
    return stream;
  }

  // Another one that is unique, or none.
  std::optional<size_t> Unique(size_t stream) {
    std::vector<size_t> all;
    for (size_t i = 0; i < streams_.size(); ++i) {
      const bool fits = streams_[i].scope == streams_[stream].scope && streams_[i].is_unique;
      if (fits && i != stream) all.push_back(i);
    }
    if (all.empty()) return std::nullopt;
    return all[Below(static_cast<int64_t>(all.size()))];
  }

  // Attributes of a vertex with state and, in `stream`, what they make of its weights. `may_sign`:
  // changes may come out.
  std::string State(Stream* stream, bool may_sign) {
    const int64_t life = Below(stream->scope.empty() ? 3 : 4);
    const bool changes = stream->is_signed || (may_sign && random_.Chance(0.5));
    stream->is_signed = life >= 2 && changes && may_sign;
    if (life < 2 || (changes && !may_sign)) return "";
    return StrCat(", state = ", life == 2 ? "\"job\"" : "\"loop\"",
                  changes ? ", emit = \"changes\"" : "");
  }

  // The same of a join.
  std::string Life(const std::string& scope) {
    constexpr const char* kLives[] = {"", ", state = \"job\"", ", state = \"loop\""};
    return kLives[Below(scope.empty() ? 2 : 3)];
  }

 private:
  inline static const std::set<std::string_view> kKeepsRecords = {
      "input", "map",   "filter", "switch", "exchange", "inspect",
      "delay", "enter", "zip",    "merge",  "after"};

  Random& random_;
  std::string text_;
  std::vector<Stream> streams_;
  int count_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_STREAMS_TESTING_H_
