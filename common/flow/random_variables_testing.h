// Variables of random flows (random_flow_text_testing.h): of numbers, and how often each was
// assigned to. Used by one thread.
#ifndef WEIR_COMMON_FLOW_RANDOM_VARIABLES_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_VARIABLES_TESTING_H_

#include <string>

#include "common/flow/random_function_testing.h"
#include "common/flow/random_streams_testing.h"

namespace weir {

class RandomVariables {
 public:
  using Stream = RandomStreams::Stream;

  RandomVariables(RandomStreams* streams, RandomFunctions* functions)
      : streams_(*streams), functions_(*functions) {}

  // Adds one that `from` reads; another stream changes it, or what comes of its own values later.
  void Add(size_t from) {
    Stream out = streams_.at(from);
    const auto may_update = [](const Stream& stream) {
      return !stream.is_signed && !stream.is_heavy;
    };
    size_t updates = streams_.Any(out.scope);
    const bool goes_round =
        may_update(out) && (!may_update(streams_.at(updates)) || streams_.Chance(0.5));
    if (goes_round) updates = AddLater(out);
    if (!may_update(streams_.at(updates))) updates = AddOnes(updates);
    const int64_t keys = streams_.Below(2);
    const RecordType& update = streams_.at(updates).type;
    const std::string init = functions_.Init(keys == 1 && streams_.Chance(0.5));
    const std::string assign = functions_.Assign(RecordType(update.begin() + keys, update.end()));
    out.type.push_back({DType::kF32, Shape()});
    out.type.push_back({DType::kI64, Shape()});
    const size_t values = streams_.AddVertex(
        "variable", {from, updates},
        StrCat("keys = ", keys, ", init = \"", init, "\", assign = \"", assign, "\""), {out});
    if (goes_round) BringBack(values, updates);
  }

 private:
  // A stream of (i64[], f32[]) that nothing gives yet.
  size_t AddLater(Stream like) {
    like.name = StrCat("later", streams_.size());
    like.type = {{DType::kI64, Shape()}, {DType::kF32, Shape()}};
    like.is_unique = like.is_once = false;
    return streams_.Add(std::move(like));
  }

  // The keys of a stream, each with the weight 1.
  size_t AddOnes(size_t from) {
    Stream ones = streams_.at(from);
    ones.type = {{DType::kI64, Shape()}, {DType::kI64, Shape()}};
    ones.is_signed = ones.is_heavy = false;
    return streams_.AddVertex("count", {from}, "keys = 1", {ones});
  }

  // What comes of `values` is the stream `later` from now on.
  void BringBack(size_t values, size_t later) {
    Stream pair = streams_.at(values);
    const std::string function = functions_.Newest(pair.type);
    pair.type = streams_.at(later).type;
    const size_t made =
        streams_.AddVertex("map", {values}, StrCat("function = \"", function, "\""), {pair});
    streams_.at(made).is_read = true;
    streams_.at(values).is_read = false;  // by who sees it
    const bool in_trips = !pair.scope.empty() && streams_.Chance(0.5);
    StrAppend(&streams_.text(), "  %", streams_.at(later).name, " = ",
              in_trips ? "feedback" : "delay", "(%", streams_.at(made).name, ") {",
              in_trips ? "bound = 3" : StrCat("epochs = ", 1 + streams_.Below(3)), "}\n");
  }

  RandomStreams& streams_;
  RandomFunctions& functions_;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_VARIABLES_TESTING_H_
