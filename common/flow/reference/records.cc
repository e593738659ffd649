// map, filter, switch, flat_map, and those that pass records on: concat, exchange, inspect.
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/flow/reference/reference_vertex.h"

namespace weir {
namespace {

// What the function returns for each record of a bag, in the order of the bag.
class FunctionOfRecord {
 public:
  FunctionOfRecord(const Flow& flow, const FlowVertex& vertex)
      : function_(MakeReferenceFunction(flow.functions, vertex.attr("function").AsString())),
        type_(vertex.input_types[0]) {}

  absl::StatusOr<std::vector<Tensor>> Call(const RecordBag& bag) const {
    return function_->Call(BatchOf(bag, type_).columns, bag.size());
  }

 private:
  const std::unique_ptr<RecordFunction> function_;
  const RecordType type_;
};

class ReferenceMap : public ReferenceVertex {
 public:
  ReferenceMap(const Flow& flow, const FlowVertex& vertex)
      : function_(flow, vertex), drops_(vertex.StringOr("on_failure", "stop") == "drop") {}

  absl::Status Run(ReferenceStep* step) override {
    RecordBag out;
    for (const auto& [key, weight] : step->inputs[0]) {
      RecordBag one;
      one.Add(key.origin, key.record, weight);
      const absl::StatusOr<std::vector<Tensor>> results = function_.Call(one);
      if (results.ok()) {
        out.Add(key.origin, RecordOf(*results, 0), weight);
      } else if (!drops_) {
        return results.status();
      }
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  const FunctionOfRecord function_;
  const bool drops_;
};

// filter and switch.
class ReferenceSwitch : public ReferenceVertex {
 public:
  ReferenceSwitch(const Flow& flow, const FlowVertex& vertex)
      : function_(flow, vertex), outputs_(vertex.def->outputs) {}

  absl::Status Run(ReferenceStep* step) override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results, function_.Call(step->inputs[0]));
    RecordBag yes;
    RecordBag no;
    int64_t row = 0;
    for (const auto& [key, weight] : step->inputs[0]) {
      const bool is = results[0].At<bool>({row++});
      (is ? yes : no).Add(key.origin, key.record, weight);
    }
    step->Send(0, step->time, std::move(yes));
    if (outputs_ == 2) step->Send(1, step->time, std::move(no));
    return absl::OkStatus();
  }

 private:
  const FunctionOfRecord function_;
  const int outputs_;
};

class ReferenceFlatMap : public ReferenceVertex {
 public:
  ReferenceFlatMap(const Flow& flow, const FlowVertex& vertex) : function_(flow, vertex) {}

  absl::Status Run(ReferenceStep* step) override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> results, function_.Call(step->inputs[0]));
    RecordBag out;
    int64_t row = 0;
    for (const auto& [key, weight] : step->inputs[0]) {
      const int64_t count = results[0].At<int64_t>({row});
      std::vector<Tensor> children;
      for (size_t c = 1; c < results.size(); ++c) children.push_back(results[c].Row(row));
      if (count < 0 || count > children[0].extent(0)) {
        return InvalidArgument("record ", row, " of origin ", key.origin, ": the count is ", count,
                               "; it is from 0 to ", children[0].extent(0));
      }
      for (int64_t c = 0; c < count; ++c) out.Add(key.origin, RecordOf(children, c), weight);
      ++row;
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  const FunctionOfRecord function_;
};

class ReferenceConcat : public ReferenceVertex {
 public:
  absl::Status Run(ReferenceStep* step) override {
    RecordBag all;
    for (const RecordBag& input : step->inputs) all.AddAll(input);
    step->Send(0, step->time, std::move(all));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceRecords(const Flow& flow, const FlowVertex& vertex) {
  const std::string& kind = vertex.kind;
  if (kind == "map") return std::make_unique<ReferenceMap>(flow, vertex);
  if (kind == "filter" || kind == "switch") return std::make_unique<ReferenceSwitch>(flow, vertex);
  if (kind == "flat_map") return std::make_unique<ReferenceFlatMap>(flow, vertex);
  const bool passes_on = kind == "concat" || kind == "exchange" || kind == "inspect";
  if (passes_on) return std::make_unique<ReferenceConcat>();
  return nullptr;
}

}  // namespace weir
