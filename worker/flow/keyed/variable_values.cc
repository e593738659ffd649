#include "worker/flow/keyed/variable_values.h"

#include <utility>

#include "common/base/status.h"
#include "common/flow/variable_value.h"
#include "worker/flow/gather_rows.h"

namespace weir {
namespace {

RecordType KeysOf(const FlowVertex& vertex) {
  const RecordType& reads = vertex.input_types[0];
  return RecordType(reads.begin(), reads.begin() + vertex.attr("keys").AsInt());
}

RecordBatch WithValues(const RecordBatch& reads, const std::vector<Tensor>& values) {
  std::vector<Tensor> columns = reads.columns;
  columns.insert(columns.end(), values.begin(), values.end());
  return WithColumns(reads, std::move(columns));
}

}  // namespace

VariableValues::VariableValues(const VertexSetup& setup)
    : num_keys_(static_cast<int>(setup.vertex().attr("keys").AsInt())),
      init_takes_nothing_(InitTakesNothing(*setup.flow, setup.vertex())),
      result_type_(setup.vertex().output_types[0]),
      init_(setup.functions.at("init")),
      keys_(KeysOf(setup.vertex())),
      values_(ValueOf(setup.vertex())),
      fold_(setup.functions.at("assign")) {}

absl::StatusOr<std::vector<Tensor>> VariableValues::InitOf(absl::Span<const Tensor> columns,
                                                           absl::Span<const int64_t> rows) const {
  std::vector<Tensor> keys;
  for (int i = 0; i < num_keys_ && !init_takes_nothing_; ++i) {
    keys.push_back(GatherRows(ColumnRows::Of(columns[i]), rows));
  }
  auto values = init_->Call(keys, static_cast<int64_t>(rows.size()));
  if (!values.ok()) return Annotate(values.status(), "the value to begin with");
  for (Tensor& column : *values) column = column.Contiguous();
  return values;
}

absl::Status VariableValues::Assign(const RecordBatch& updates) {
  const int64_t before = keys_.limit();
  std::vector<uint32_t> numbers;
  WEIR_RETURN_IF_ERROR(keys_.FindOrAdd(updates.columns, updates.size(), &numbers));
  if (keys_.limit() > before) {
    fold_.Resize(keys_.limit());
    values_.Resize(keys_.limit());
    std::vector<int64_t> first_rows;  // of new keys, which are numbered as they come
    for (int64_t row = 0; row < updates.size(); ++row) {
      const auto next = before + static_cast<int64_t>(first_rows.size());
      if (numbers[row] == next) first_rows.push_back(row);
    }
    WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> values, InitOf(updates.columns, first_rows));
    for (size_t i = 0; i < first_rows.size(); ++i) {
      values_.Set(static_cast<uint32_t>(before + static_cast<int64_t>(i)), values,
                  static_cast<int64_t>(i));
    }
  }
  WEIR_ASSIGN_OR_RETURN(GroupFold::Parts parts, fold_.Split(updates, numbers));
  return fold_.Fold(absl::MakeConstSpan(updates.columns).subspan(num_keys_), std::move(parts),
                    &values_);
}

absl::StatusOr<RecordBatch> VariableValues::Read(const RecordBatch& reads) const {
  std::vector<uint32_t> numbers;
  keys_.Find(reads.columns, reads.size(), &numbers);
  std::vector<uint32_t> values;   // of keys that something was assigned to
  std::vector<int64_t> assigned;  // rows that read those
  std::vector<int64_t> others;
  for (int64_t row = 0; row < reads.size(); ++row) {
    if (numbers[row] == KeyIndex::kNone) {
      others.push_back(row);
    } else {
      values.push_back(numbers[row]);
      assigned.push_back(row);
    }
  }
  if (others.empty()) return WithValues(reads, values_.Rows(values));
  WEIR_ASSIGN_OR_RETURN(const std::vector<Tensor> first_values, InitOf(reads.columns, others));
  if (assigned.empty()) return WithValues(reads, first_values);
  return ConcatBatches({WithValues(SelectRows(reads, assigned), values_.Rows(values)),
                        WithValues(SelectRows(reads, others), first_values)},
                       result_type_);
}

}  // namespace weir
