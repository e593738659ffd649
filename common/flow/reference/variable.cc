// variable: of both orders, that of times. Each value is a row of bytes by key.
#include <utility>

#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/reference/reference_vertex.h"
#include "common/flow/variable_value.h"

namespace weir {
namespace {

class ReferenceVariable : public ReferenceVertex {
 public:
  ReferenceVariable(const Flow& flow, const FlowVertex& vertex)
      : keys_(vertex.attr("keys").AsInt()),
        init_takes_nothing_(InitTakesNothing(flow, vertex)),
        key_type_(vertex.input_types[0].begin(), vertex.input_types[0].begin() + keys_),
        assign_type_(ValueOf(vertex)),
        init_(MakeReferenceFunction(flow.functions, vertex.attr("init").AsString())),
        assign_(MakeReferenceFunction(flow.functions, vertex.attr("assign").AsString())) {
    const RecordType& update = vertex.input_types[1];
    assign_type_.insert(assign_type_.end(), update.begin() + keys_, update.end());
  }

  absl::Status Run(ReferenceStep* step) override {
    for (const auto& [update, weight] : step->inputs[1]) {
      if (weight < 0 || weight > kMaxRepeats) {
        return InvalidArgument("an update of origin ", update.origin, " has the weight ", weight,
                               "; an update is assigned 0 to ", kMaxRepeats, " times");
      }
      for (int64_t i = 0; i < weight; ++i) WEIR_RETURN_IF_ERROR(Assign(update.record));
    }
    RecordBag out;
    for (const auto& [read, weight] : step->inputs[0]) {
      WEIR_ASSIGN_OR_RETURN(const RecordBytes value, ValueFor(FirstColumns(read.record, keys_)));
      out.Add(read.origin, Joined(read.record, value), weight);
    }
    step->Send(0, step->time, std::move(out));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<RecordBytes> ValueFor(const RecordBytes& key) const {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    std::vector<Tensor> columns;
    if (!init_takes_nothing_) columns = ColumnsOf({key}, key_type_);
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> value, init_->Call(columns, 1));
    return RecordOf(value, 0);
  }

  absl::Status Assign(const RecordBytes& update) {
    const RecordBytes key = FirstColumns(update, keys_);
    WEIR_ASSIGN_OR_RETURN(RecordBytes value, ValueFor(key));
    const RecordBytes both = Joined(std::move(value), WithoutFirst(update, keys_));
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> assigned,
                          assign_->Call(ColumnsOf({both}, assign_type_), 1));
    values_[key] = RecordOf(assigned, 0);
    return absl::OkStatus();
  }

  const int64_t keys_;
  const bool init_takes_nothing_;
  const RecordType key_type_;
  RecordType assign_type_;  // of the parameters
  const std::unique_ptr<RecordFunction> init_;
  const std::unique_ptr<RecordFunction> assign_;
  std::map<RecordBytes, RecordBytes> values_;  // of keys that something was assigned to
};

}  // namespace

std::unique_ptr<ReferenceVertex> MakeReferenceVariable(const Flow& flow, const FlowVertex& vertex) {
  return vertex.kind == "variable" ? std::make_unique<ReferenceVariable>(flow, vertex) : nullptr;
}

}  // namespace weir
