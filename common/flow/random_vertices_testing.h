// Vertices of random flows by record type (random_flow_text_testing.h). Used by one thread.
#ifndef WEIR_COMMON_FLOW_RANDOM_VERTICES_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_VERTICES_TESTING_H_

#include <optional>
#include <string>

#include "common/flow/random_function_testing.h"
#include "common/flow/random_streams_testing.h"
#include "common/flow/random_variables_testing.h"

namespace weir {

class RandomVertices {
 public:
  using Stream = RandomStreams::Stream;

  explicit RandomVertices(RandomStreams* streams) : streams_(*streams) {}

  // Adds a vertex that gives records of the same type, in no greater number. Returns: its stream.
  size_t SameType(size_t from, bool may_sign) {
    Stream out = streams_.at(from);
    switch (streams_.Below(10)) {
      case 0: {
        const std::string state = streams_.State(&out, may_sign);
        out.is_heavy = false;
        return streams_.AddVertex("distinct", {from}, state.substr(state.empty() ? 0 : 2), {out});
      }
      case 1:
        return TopK(from, may_sign);
      case 2:
        return Combine(from, may_sign);
      case 3:
      case 4: {
        const bool calls = !out.is_signed && !out.is_heavy && streams_.Chance(0.5);
        return streams_.AddVertex("collect", {from}, calls ? Calls(functions_.Total(out.type)) : "",
                                  {out});
      }
      default:
        return OneByOne(from);
    }
  }

  // The same, and each record stands for one of the stream.
  size_t OneByOne(size_t from) {
    const Stream out = streams_.at(from);
    const int variant = static_cast<int>(streams_.Below(3));
    switch (streams_.Below(7)) {
      case 0:
        return streams_.AddVertex("filter", {from}, Calls(functions_.Most(out.type, variant)),
                                  {out});
      case 1:
        return streams_.AddVertex("switch", {from}, Calls(functions_.Most(out.type, variant)),
                                  {out, out});
      case 2: {
        const int64_t keys = 1 + streams_.Below(static_cast<int64_t>(out.type.size()));
        return streams_.AddVertex("exchange", {from}, StrCat("keys = ", keys), {out});
      }
      case 3:
        return streams_.AddVertex("inspect", {from}, "limit = 2", {out});
      case 4:
        return streams_.AddVertex(
            "map", {from}, Calls(functions_.Checked(out.type)) + ", on_failure = \"drop\"", {out});
      default:
        return streams_.AddVertex("map", {from}, Calls(functions_.Shift(out.type, variant)), {out});
    }
  }

  // Adds any vertex that is no part of a loop.
  void Step(size_t from) {
    Stream out = streams_.at(from);
    const RecordType type = out.type;
    const std::optional<size_t> other_unique = streams_.Unique(from);
    if (out.is_unique && other_unique && streams_.Chance(0.4)) return Zip(from, *other_unique);
    if (out.is_unique && streams_.Chance(0.15)) return Branches(from);
    if (streams_.Chance(0.3)) return Reduce(from);
    switch (streams_.Below(13)) {
      case 0:
        out.type = {I64(), F32()};
        streams_.AddVertex("map", {from}, Calls(functions_.Pair(type)), {out});
        return;
      case 1:
        out.type = {I64(), F32()};
        streams_.AddVertex("flat_map", {from}, Calls(functions_.Split(type)), {out});
        return;
      case 2: {
        const size_t other = streams_.Like(from);
        out.is_signed |= streams_.at(other).is_signed;
        out.is_heavy |= streams_.at(other).is_heavy;
        out.is_many |= streams_.at(other).is_many;
        streams_.AddVertex("concat", {from, other}, "", {out});
        return;
      }
      case 3:
        streams_.AddVertex("delay", {from}, StrCat("epochs = ", 1 + streams_.Below(2)), {out});
        return;
      case 4: {
        if (!out.scope.empty()) break;
        const int64_t size = 1 + streams_.Below(3);
        const int64_t slide = 1 + streams_.Below(3);
        streams_.AddVertex("window", {from}, StrCat("size = ", size, ", slide = ", slide), {out});
        return;
      }
      case 5:
        return Count(from);
      case 7:
      case 8:
        if (has_joined_ || out.is_many) break;
        return Join(from, streams_.Any(out.scope));
      case 9:
        return Semijoin(from);
      case 10:
        if (out.is_signed || out.is_heavy) break;
        out.type = {I64(), I64()};
        streams_.AddVertex("collect", {from}, Calls(functions_.Extent(type)), {out});
        return;
      case 6:
      case 11:
        return variables_.Add(from);
      default:
        break;
    }
    SameType(from, /*may_sign=*/true);
  }

  // Of the functions that vertices call.
  std::string functions() const { return functions_.text(); }

 private:
  static TensorType I64() { return {DType::kI64, Shape()}; }
  static TensorType F32() { return {DType::kF32, Shape()}; }
  static std::string Calls(const std::string& function) {
    return StrCat("function = \"", function, "\"");
  }

  size_t TopK(size_t from, bool may_sign) {
    Stream out = streams_.at(from);
    const int64_t by = streams_.Below(static_cast<int64_t>(out.type.size()));
    const int64_t keys = streams_.Below(by + 1);
    if (out.type[by].rank() > 0) return streams_.AddVertex("exchange", {from}, "keys = 1", {out});
    const std::string state = streams_.State(&out, may_sign);
    return streams_.AddVertex(
        "top_k", {from},
        StrCat("keys = ", keys, ", k = ", 1 + streams_.Below(5), ", by = ", by, state), {out});
  }

  size_t Combine(size_t from, bool may_sign) {
    constexpr const char* kCombine[] = {"sum", "min", "max"};
    Stream out = streams_.at(from);
    const int64_t keys = 1 + streams_.Below(static_cast<int64_t>(out.type.size()));
    const std::string state = streams_.State(&out, may_sign);
    out.is_heavy = false;
    const std::string combine = kCombine[streams_.Below(3)];
    return streams_.AddVertex("reduce_by_key", {from},
                              StrCat("keys = ", keys, ", combine = \"", combine, "\"", state),
                              {out});
  }

  // Of two streams with one record of an origin at most; the second one gives columns or only says
  // when. A record that is there once for all trips of a loop may be held.
  void Zip(size_t from, size_t other) {
    Stream out = streams_.at(from);
    const std::string attributes =
        streams_.at(other).is_once && streams_.Chance(0.7) ? "hold = [1]" : "";
    if (streams_.Chance(0.5)) {
      streams_.AddVertex("after", {from, other}, attributes, {out});
      return;
    }
    out.type.insert(out.type.end(), streams_.at(other).type.begin(), streams_.at(other).type.end());
    streams_.AddVertex("zip", {from, other}, attributes, {out});
  }

  // A branch as TensorFlow has it: each record goes one of two ways and both meet again, where
  // every record has its own for a partner.
  void Branches(size_t from) {
    const Stream out = streams_.at(from);
    const int variant = static_cast<int>(streams_.Below(3));
    const size_t yes =
        streams_.AddVertex("switch", {from}, Calls(functions_.Most(out.type, variant)), {out, out});
    const size_t then =
        streams_.AddVertex("map", {yes}, Calls(functions_.Shift(out.type, variant)), {out});
    const size_t both = streams_.AddVertex("merge", {then, yes + 1}, "", {out});
    if (streams_.Chance(0.5)) return;
    streams_.AddVertex("after", {from, both}, "unmatched = \"stop\"", {out});
  }

  void Count(size_t from) {
    Stream out = streams_.at(from);
    const int64_t keys = streams_.Below(static_cast<int64_t>(out.type.size()) + 1);
    out.type.resize(keys);
    out.type.push_back(I64());
    out.is_heavy = false;
    const std::string state = streams_.State(&out, /*may_sign=*/true);
    streams_.AddVertex("count", {from}, StrCat("keys = ", keys, state), {out});
  }

  void Reduce(size_t from) {
    Stream out = streams_.at(from);
    const auto columns = static_cast<int64_t>(out.type.size());
    const bool fold = !out.is_signed && !out.is_heavy && streams_.Chance(0.5);
    const bool mean = !fold && streams_.Chance(0.5);
    const int64_t keys = fold ? streams_.Below(columns) : streams_.Below(columns + 1);
    if (keys == 0 && mean) return Count(from);  // records begin with an i64
    std::string how = StrCat("combine = \"", mean ? "mean" : "sum", "\"");
    if (fold) {
      how = Calls(functions_.Fold(RecordType(out.type.begin() + keys, out.type.end())));
    }
    for (int64_t c = keys; mean && c < columns; ++c) {
      if (out.type[c].dtype == DType::kI64) out.type[c].dtype = DType::kF64;
    }
    out.is_heavy = false;
    const std::string state = streams_.State(&out, /*may_sign=*/true);
    streams_.AddVertex("reduce_by_key", {from}, StrCat("keys = ", keys, ", ", how, state), {out});
  }

  // One in a flow, since the number of records may be that of pairs.
  void Join(size_t from, size_t other) {
    if (streams_.at(other).is_many) other = from;
    Stream out = streams_.at(from);
    const RecordType right = streams_.at(other).type;
    out.type.insert(out.type.end(), right.begin() + 1, right.end());
    out.is_signed |= streams_.at(other).is_signed;
    out.is_heavy = out.is_many = true;
    has_joined_ = true;
    streams_.AddVertex("join", {from, other}, StrCat("keys = 1", streams_.Life(out.scope)), {out});
  }

  void Semijoin(size_t from) {
    const size_t other = streams_.Any(streams_.at(from).scope);
    Stream out = streams_.at(from);
    const std::string life = streams_.Life(out.scope);
    out.is_signed |= streams_.at(other).is_signed && !life.empty();
    streams_.AddVertex("semijoin", {from, other}, StrCat("keys = ", streams_.Below(2), life),
                       {out});
  }

  RandomStreams& streams_;
  RandomFunctions functions_;
  RandomVariables variables_{&streams_, &functions_};
  bool has_joined_ = false;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_VERTICES_TESTING_H_
