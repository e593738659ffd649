// Draws random flows in text form (random_flow_testing.h). Used by one thread.
#ifndef WEIR_COMMON_FLOW_RANDOM_FLOW_TEXT_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_FLOW_TEXT_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "common/flow/random_streams_testing.h"
#include "common/flow/random_vertices_testing.h"

namespace weir {

class RandomFlowText {
 public:
  explicit RandomFlowText(Random* random) : streams_(random), vertices_(&streams_) {}

  // An input vertex, for who draws records.
  struct Input {
    std::string name;
    RecordType type;
    bool is_weighted = false;  // weights may be others than 1
    bool is_signed = false;    // and below zero
  };

  std::string Draw() {
    loops_left_ = static_cast<int>(streams_.Below(3));
    for (int64_t i = 1 + streams_.Below(3); i > 0; --i) AddInput();
    for (int64_t i = 1 + streams_.Below(5); i > 0; --i) {
      const size_t from = streams_.Any("");
      if (loops_left_ > 0 && streams_.Chance(0.5)) {
        Loop(from, /*may_sign=*/true);
      } else {
        vertices_.Step(from);
      }
    }
    int outputs = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (!streams_.at(i).scope.empty() || streams_.at(i).is_read) continue;
      if (outputs == 0 || streams_.Chance(0.8)) {
        AddSink("output", i);
        ++outputs;
      } else {
        AddSink("probe", i);
      }
    }
    return StrCat(vertices_.functions(), "flow @random {\n", loops_, streams_.text(), "}\n");
  }
  const std::vector<Input>& inputs() const { return inputs_; }

 private:
  using Stream = RandomStreams::Stream;

  void AddSink(std::string_view kind, size_t from) {
    StrAppend(&streams_.text(), "  %", kind, from, " = ", kind, "(%", streams_.at(from).name,
              ")\n");
  }

  void AddInput() {
    const TensorType i64 = {DType::kI64, Shape()};
    const TensorType f32 = {DType::kF32, Shape()};
    const std::vector<RecordType> types = {
        {i64, f32}, {i64, i64, f32}, {i64, {DType::kF32, Shape({Dim(2)})}}, {i64}};
    Stream stream{.type = types[streams_.Chance(0.6) ? 0 : streams_.Below(4)]};
    stream.is_signed = streams_.Chance(0.15);
    const bool is_weighted = stream.is_signed || streams_.Chance(0.25);
    stream.is_unique = !is_weighted;
    std::string columns;
    for (const TensorType& column : stream.type) {
      StrAppend(&columns, columns.empty() ? "\"" : ", \"", column.ToString(), "\"");
    }
    const size_t at = streams_.AddVertex("input", {}, StrCat("types = [", columns, "]"), {stream});
    inputs_.push_back({streams_.at(at).name, stream.type, is_weighted, stream.is_signed});
  }

  // What goes round keeps its type and does not grow. Returns: what leaves.
  size_t Loop(size_t from, bool may_sign) {
    const std::string outer = streams_.at(from).scope;
    const std::string loop = StrCat("l", --loops_left_);
    StrAppend(&loops_, "  loop @", loop, outer.empty() ? "" : StrCat(" in @", outer), "\n");
    Stream inside = streams_.at(from);
    inside.scope = loop;
    // What leaves an inner loop in each trip goes round in the outer one and comes in again.
    const bool nests = !outer.empty() || loops_left_ > 0;
    inside.is_many |= nests;
    const bool stays_unique = inside.is_unique && streams_.Chance(0.5);
    inside.is_once = inside.is_unique;
    const std::string trip = streams_.Chance(0.2) ? ", trip = 1" : "";
    const size_t enter =
        streams_.AddVertex("enter", {from}, StrCat("loop = \"", loop, "\"", trip), {inside});
    inside.is_once = false;
    inside.is_unique = stays_unique;
    inside.is_signed |= may_sign && streams_.Chance(0.3);
    inside.name = StrCat("back_", loop);
    const size_t back = streams_.Add(inside);
    const bool merges = stays_unique && streams_.Chance(0.5);
    size_t around = streams_.AddVertex(merges ? "merge" : "concat", {enter, back}, "", {inside});
    streams_.at(around).is_unique = stays_unique;  // they come in different trips
    for (int64_t i = 1 + streams_.Below(3); i > 0; --i) {
      if (stays_unique) {
        around = vertices_.OneByOne(around);
      } else if (loops_left_ > 0 && streams_.Chance(0.4)) {
        around = Loop(around, inside.is_signed);
      } else {
        around = vertices_.SameType(around, inside.is_signed);
      }
    }
    for (int64_t i = streams_.Below(3); i > 0; --i) vertices_.Step(streams_.Any(loop));
    StrAppend(&streams_.text(), "  %back_", loop, " = feedback(%", streams_.at(around).name,
              ") {bound = ", 2 + streams_.Below(nests ? 2 : 4), "}\n");
    return LeaveAll(around, loop, outer);
  }

  // What nobody reads leaves or is probed. Returns: what leaves of `around`.
  size_t LeaveAll(size_t around, const std::string& loop, const std::string& outer) {
    size_t result = 0;
    const size_t end = streams_.size();
    for (size_t i = 0; i < end; ++i) {
      Stream left = streams_.at(i);
      if (i != around && (left.scope != loop || left.is_read)) continue;
      if (i != around && streams_.Chance(0.2)) {
        AddSink("probe", i);
        continue;
      }
      left.scope = outer;
      left.is_heavy |= !outer.empty();  // weights of all trips add up, in each trip around
      const size_t leave = streams_.AddVertex("leave", {i}, "", {left});
      if (i == around) result = leave;
    }
    return result;
  }

  RandomStreams streams_;
  RandomVertices vertices_;
  std::string loops_;
  std::vector<Input> inputs_;
  int loops_left_ = 0;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_FLOW_TEXT_TESTING_H_
