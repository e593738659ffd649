#include "common/flow/record_function.h"

#include <utility>

#include "common/base/status.h"
#include "common/interp/interpreter.h"

namespace weir {
namespace {

class ReferenceFunction : public RecordFunction {
 public:
  ReferenceFunction(std::shared_ptr<const Graph> graph, std::string function)
      : graph_(std::move(graph)), function_(std::move(function)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    const Region& body = graph_->region(graph_->FindFunction(function_)->body);
    std::vector<std::vector<Tensor>> results(body.results.size());
    for (int64_t r = 0; r < records; ++r) {
      std::vector<Tensor> record;
      for (const Tensor& column : columns) record.push_back(column.Row(r));
      auto values = InterpretFunction(*graph_, function_, record);
      if (!values.ok()) return Annotate(values.status(), StrCat("record ", r));
      for (size_t i = 0; i < results.size(); ++i) results[i].push_back((*values)[i]);
    }
    std::vector<Tensor> stacked;
    for (size_t i = 0; i < results.size(); ++i) {
      const TensorType& type = graph_->type(body.results[i]);
      stacked.push_back(Stack(type.dtype, type.shape.extents(), results[i]));
    }
    return stacked;
  }

 private:
  const std::shared_ptr<const Graph> graph_;
  const std::string function_;
};

class ReferenceBatchFunction : public RecordFunction {
 public:
  ReferenceBatchFunction(std::shared_ptr<const Graph> graph, std::string function)
      : graph_(std::move(graph)), function_(std::move(function)) {}

  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> columns,
                                           int64_t records) const override {
    return InterpretFunction(*graph_, function_, columns);
  }

 private:
  const std::shared_ptr<const Graph> graph_;
  const std::string function_;
};

}  // namespace

std::unique_ptr<RecordFunction> MakeReferenceFunction(std::shared_ptr<const Graph> graph,
                                                      std::string function) {
  return std::make_unique<ReferenceFunction>(std::move(graph), std::move(function));
}

std::unique_ptr<RecordFunction> MakeReferenceBatchFunction(std::shared_ptr<const Graph> graph,
                                                           std::string function) {
  return std::make_unique<ReferenceBatchFunction>(std::move(graph), std::move(function));
}

}  // namespace weir
