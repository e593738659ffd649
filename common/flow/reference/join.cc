// join and semijoin.
#include <utility>

#include "common/flow/reference/reference_vertex.h"

namespace weir {
namespace {

using ByKey = std::map<RecordBytes, RecordBag>;

class ReferenceJoin : public ReferenceVertex {
 public:
  explicit ReferenceJoin(const FlowVertex& vertex)
      : keys_(vertex.attr("keys").AsInt()), states_(vertex) {}

  absl::Status Run(ReferenceStep* step) override {
    State& before = states_.At(step->time);
    RecordBag out;
    ByKey left_now = Split(step->inputs[0]);
    ByKey right_now = Split(step->inputs[1]);
    for (const auto& [key, records] : right_now) {
      Pair(before.left[key], records, &out);
      before.right[key].AddAll(records);
    }
    for (const auto& [key, records] : left_now) {
      Pair(records, before.right[key], &out);  // up to this time
      before.left[key].AddAll(records);
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  struct State {
    ByKey left;
    ByKey right;
  };

  ByKey Split(const RecordBag& records) const {
    ByKey split;
    for (const auto& [key, weight] : records) {
      split[FirstColumns(key.record, keys_)].Add(key.origin, key.record, weight);
    }
    return split;
  }

  void Pair(const RecordBag& left, const RecordBag& right, RecordBag* out) const {
    for (const auto& [l, left_weight] : left) {
      for (const auto& [r, right_weight] : right) {
        out->Add(l.origin, Joined(l.record, WithoutFirst(r.record, keys_)),
                 scalar::Multiply(left_weight, right_weight));
      }
    }
  }

  const int64_t keys_;
  ReferenceStates<State> states_;
};

class ReferenceSemijoin : public ReferenceVertex {
 public:
  explicit ReferenceSemijoin(const FlowVertex& vertex)
      : keys_(vertex.attr("keys").AsInt()), states_(vertex) {}

  absl::Status Run(ReferenceStep* step) override {
    State& state = states_.At(step->time);
    const std::map<RecordBytes, int64_t> right_before = state.right;
    for (const auto& [key, weight] : step->inputs[1]) {
      int64_t& sum = state.right[FirstColumns(key.record, keys_)];
      sum = scalar::Add(sum, weight);
    }
    RecordBag out;
    for (const auto& [key, weight] : state.left) {
      const RecordBytes group = FirstColumns(key.record, keys_);
      const bool was_there = IsThere(right_before, group);
      const bool is_there = IsThere(state.right, group);
      if (is_there && !was_there) out.Add(key.origin, key.record, weight);
      if (was_there && !is_there) out.Add(key.origin, key.record, scalar::Negate(weight));
    }
    for (const auto& [key, weight] : step->inputs[0]) {
      const bool is_there = IsThere(state.right, FirstColumns(key.record, keys_));
      if (is_there) out.Add(key.origin, key.record, weight);
    }
    state.left.AddAll(step->inputs[0]);
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  struct State {
    RecordBag left;
    std::map<RecordBytes, int64_t> right;  // weights of keys
  };

  static bool IsThere(const std::map<RecordBytes, int64_t>& weights, const RecordBytes& key) {
    const auto found = weights.find(key);
    return found != weights.end() && found->second > 0;
  }

  const int64_t keys_;
  ReferenceStates<State> states_;
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceJoin(const FlowVertex& vertex) {
  if (vertex.kind == "join") return std::make_unique<ReferenceJoin>(vertex);
  if (vertex.kind == "semijoin") return std::make_unique<ReferenceSemijoin>(vertex);
  return nullptr;
}

}  // namespace weir
