// collect, distinct, top_k.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/reference/reference_vertex.h"
#include "common/flow/vertex_kind.h"
#include "common/ops/combine.h"

namespace weir {
namespace {

class ReferenceCollect : public ReferenceVertex {
 public:
  ReferenceCollect(const Flow& flow, const FlowVertex& vertex) : type_(vertex.input_types[0]) {
    if (vertex.FindAttr("function") == nullptr) return;
    function_ = MakeReferenceBatchFunction(flow.functions, vertex.attr("function").AsString());
    row_by_row_ = AnswersRowByRow(flow, vertex, "function");
  }

  absl::Status Run(ReferenceStep* step) override {
    if (function_ == nullptr) {
      step->Send(0, step->time, step->inputs[0]);
      return absl::OkStatus();
    }
    WEIR_RETURN_IF_ERROR(CheckRows(step->inputs[0]));
    std::vector<RecordBytes> rows;
    std::vector<int64_t> origins;
    for (const auto& [key, weight] : step->inputs[0]) {
      rows.insert(rows.end(), weight, key.record);
      origins.insert(origins.end(), weight, key.origin);
    }
    WEIR_ASSIGN_OR_RETURN(
        const std::vector<Tensor> results,
        function_->Call(ColumnsOf(rows, type_), static_cast<int64_t>(rows.size())));
    for (const Tensor& result : results) {
      if (result.extent(0) == results[0].extent(0)) continue;
      return InvalidArgument("the function returns columns of ", results[0].extent(0), " and ",
                             result.extent(0), " records");
    }
    RecordBag out;
    for (int64_t row = 0; row < results[0].extent(0); ++row) {
      out.Add(origins[row_by_row_ ? row : 0], RecordOf(results, row), 1);
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckRows(const RecordBag& records) {
    int64_t rows = 0;
    for (const auto& [key, weight] : records) {
      if (weight < 0 || weight > kMaxRepeats) {
        return InvalidArgument("a record of origin ", key.origin, " has the weight ", weight,
                               "; a function takes a record 0 to ", kMaxRepeats, " times");
      }
      rows += weight;
    }
    if (rows <= kMaxCollectedRows) return absl::OkStatus();
    return InvalidArgument("a call for ", rows, " records; up to ", kMaxCollectedRows,
                           " are possible");
  }

  const RecordType type_;
  std::unique_ptr<RecordFunction> function_;
  bool row_by_row_ = false;
};

class ReferenceDistinct : public ReferenceVertex {
 public:
  explicit ReferenceDistinct(const FlowVertex& vertex) : vertex_(vertex), states_(vertex) {}

  absl::Status Run(ReferenceStep* step) override {
    WEIR_RETURN_IF_ERROR(CheckWeights(vertex_, step->inputs[0]));
    std::map<RecordBytes, Entry>& entries = states_.At(step->time);
    std::map<RecordBytes, int64_t> touched;  // with the least origin
    for (const auto& [key, weight] : step->inputs[0]) {
      Entry& entry = entries[key.record];
      entry.weight = scalar::Add(entry.weight, weight);
      touched.emplace(key.record, key.origin);
    }
    RecordBag out;
    for (const auto& [record, origin] : touched) {
      Entry& entry = entries[record];
      const bool is_there = entry.weight > 0;
      if (is_there == entry.is_out) continue;
      if (is_there) {
        entry.origin = origin;
        out.Add(origin, record, 1);
      } else if (EmitOf(vertex_) == Emit::kChanges) {
        out.Add(entry.origin, record, -1);
      }
      entry.is_out = is_there;
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  struct Entry {
    int64_t weight = 0;
    bool is_out = false;
    int64_t origin = 0;  // with which it came out
  };

  const FlowVertex& vertex_;
  ReferenceStates<std::map<RecordBytes, Entry>> states_;
};

// Whether the number in `a` comes before the one in `b`: larger first, NaN last.
bool IsAhead(DType dtype, const std::string& a, const std::string& b) {
  return VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    T x;
    T y;
    std::copy_n(a.data(), sizeof(T), reinterpret_cast<char*>(&x));
    std::copy_n(b.data(), sizeof(T), reinterpret_cast<char*>(&y));
    if constexpr (kIsComplex<T>) {
      return false;  // the type rules let no such column be compared
    } else if constexpr (kIsHalf<T>) {
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      return std::isnan(fx) ? false : std::isnan(fy) || fx > fy;
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::isnan(x) ? false : std::isnan(y) || x > y;
    } else {
      return x > y;
    }
  });
}

class ReferenceTopK : public ReferenceVertex {
 public:
  explicit ReferenceTopK(const FlowVertex& vertex)
      : vertex_(vertex),
        keys_(vertex.attr("keys").AsInt()),
        k_(vertex.attr("k").AsInt()),
        by_(vertex.attr("by").AsInt()),
        dtype_(vertex.input_types[0][by_].dtype),
        states_(vertex) {}

  absl::Status Run(ReferenceStep* step) override {
    WEIR_RETURN_IF_ERROR(CheckWeights(vertex_, step->inputs[0]));
    std::map<RecordBytes, Group>& groups = states_.At(step->time);
    // By key and record the least origin of this time.
    std::map<RecordBytes, std::map<RecordBytes, int64_t>> touched;
    std::map<RecordBytes, Entries> before;
    for (const auto& [key, weight] : step->inputs[0]) {
      const RecordBytes group = FirstColumns(key.record, keys_);
      before.emplace(group, groups[group].entries);
      Entry& entry = groups[group].entries[key.record];
      entry.weight = scalar::Add(entry.weight, weight);
      touched[group].emplace(key.record, key.origin);
    }
    RecordBag out;
    for (const auto& [key, records] : touched) {
      Group& group = groups[key];
      for (const auto& [record, origin] : records) {
        const auto old = before[key].find(record);
        const bool was_there = old != before[key].end() && old->second.weight > 0;
        if (!was_there) group.entries[record].origin = origin;
      }
      Entries first = FirstOf(group.entries);
      Emit(group.result, first, &out);
      group.result = std::move(first);
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  struct Entry {
    int64_t weight = 0;
    int64_t origin = 0;
  };
  using Entries = std::map<RecordBytes, Entry>;
  struct Group {
    Entries entries;
    Entries result;
  };

  Entries FirstOf(const Entries& entries) const {
    std::vector<std::pair<RecordBytes, Entry>> there;
    for (const auto& entry : entries) {
      if (entry.second.weight > 0) there.emplace_back(entry);
    }
    // Stable, so that equal ones stay in the order of their content.
    std::stable_sort(there.begin(), there.end(), [&](const auto& a, const auto& b) {
      return IsAhead(dtype_, a.first[by_], b.first[by_]);
    });
    Entries first;
    int64_t left = k_;
    for (const auto& [record, entry] : there) {
      if (left == 0) break;
      const int64_t taken = std::min(left, entry.weight);
      first[record] = {taken, entry.origin};
      left -= taken;
    }
    return first;
  }

  void Emit(const Entries& old, const Entries& now, RecordBag* out) const {
    const auto same = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.weight == b.second.weight;
    };
    if (std::equal(old.begin(), old.end(), now.begin(), now.end(), same)) return;
    for (const auto& [record, entry] : now) out->Add(entry.origin, record, entry.weight);
    if (EmitOf(vertex_) != weir::Emit::kChanges) return;
    for (const auto& [record, entry] : old) out->Add(entry.origin, record, -entry.weight);
  }

  const FlowVertex& vertex_;
  const int64_t keys_;
  const int64_t k_;
  const int64_t by_;
  const DType dtype_;
  ReferenceStates<std::map<RecordBytes, Group>> states_;
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceGroups(const Flow& flow, const FlowVertex& vertex) {
  if (vertex.kind == "collect") return std::make_unique<ReferenceCollect>(flow, vertex);
  if (vertex.kind == "distinct") return std::make_unique<ReferenceDistinct>(vertex);
  if (vertex.kind == "top_k") return std::make_unique<ReferenceTopK>(vertex);
  return nullptr;
}

}  // namespace weir
