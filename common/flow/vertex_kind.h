// The definition of a kind of vertex: every rule of it that does not run records, made by one
// function in one file (common/flow/kinds/<kind>.cc) and listed in kind_list.inc. What runs records
// is worker/flow/vertices/<kind>.cc, and, for the oracle, reference_flow.cc. Immutable after start;
// usable from any thread.
#ifndef WEIR_COMMON_FLOW_VERTEX_KIND_H_
#define WEIR_COMMON_FLOW_VERTEX_KIND_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/flow/flow.h"

namespace weir {

// To which worker's copy of a vertex a record goes.
struct Routing {
  enum class To {
    kSelf,    // the copy on the same worker
    kKey,     // by the first `keys` columns (record_rows.h)
    kOrigin,  // by its origin
    kRoot,    // the copy on the worker of rank 0
    kAll,     // every copy
  };
  To to = To::kSelf;
  int keys = 0;  // all columns if it is the number of columns
};

struct FlowAttr {
  // What the function that the attribute names is called for.
  enum class Calls {
    kNothing,  // it names no function
    kRecord,   // each record: parameters are columns of one
    kBatch,    // all records of a time: parameters have a leading axis of them, a symbol
  };

  std::string_view name;
  Attr::Kind kind;
  bool required = true;
  std::string_view what;  // for documentation, with the default
  Calls calls = Calls::kNothing;
};

// What type rules see: record types of inputs as far as they are known (in a cycle one may follow
// from another one).
struct KindContext {
  const Flow& flow;
  const FlowVertex& vertex;
  absl::Span<const RecordType* const> inputs;  // null: not known yet

  // Errors: a function that is missing, or whose parameters are not `parameters`. Returns: its
  // result types.
  absl::StatusOr<RecordType> Call(std::string_view attr, const RecordType& parameters) const;
  // The same of a function for all records of a time: parameters are `f32[n,3]` for a column
  // f32[3], with one symbol n for all; results have one leading axis more than a record, of any
  // extent. Returns: the columns of one record of the result.
  absl::StatusOr<RecordType> CallBatch(std::string_view attr, const RecordType& records) const;
};

struct VertexKind {
  std::string_view name;
  std::string_view summary;  // one line for documentation
  int min_inputs = 1;
  int max_inputs = 1;
  int outputs = 1;
  std::vector<FlowAttr> attrs = {};

  // Whose origins records that come out have.
  enum class Origins { kAllInputs, kFirstInput };
  Origins origins = Origins::kAllInputs;

  enum class Scope { kSame, kEnter, kLeave };
  Scope scope = Scope::kSame;

  // Returns: types of the outputs, or nothing while an input that decides is not known. Called
  // again when all are known, to check.
  absl::StatusOr<std::optional<std::vector<RecordType>>> (*infer)(const KindContext&) = nullptr;
  // Null: Routing::To::kSelf for every input.
  Routing (*route)(const FlowVertex& vertex, int input) = nullptr;
  // What happens to a time at the least; null: nothing, or what the scope says.
  PathSummary (*summarize)(const FlowVertex& vertex, int depth) = nullptr;
};

// For `infer` of kinds with one output.
absl::StatusOr<std::optional<std::vector<RecordType>>> OneOutput(RecordType type);
absl::StatusOr<std::optional<std::vector<RecordType>>> NotKnownYet();
// Output 0 has the records of input 0.
absl::StatusOr<std::optional<std::vector<RecordType>>> SameAsInput(const KindContext& context);
// The columns that an attribute `types` names. Errors: one that is no type of fixed size.
absl::StatusOr<RecordType> RecordTypeFrom(const std::vector<std::string>& columns);
// Errors: records without a column, or one that no batch could hold many of (flow_limits.h).
absl::Status CheckRecordType(const RecordType& type);
// Errors: an integer attribute that is there and is below `least` or above `most`.
absl::Status CheckRange(const FlowVertex& vertex, std::string_view attr, int64_t least,
                        int64_t most);
// Errors: a number of columns that records of this type do not have.
absl::Status CheckKeys(const FlowVertex& vertex, const RecordType& type);
// Errors: a function of a record that does not return one bool[]. REQUIRES: input 0 is known.
absl::Status CheckPredicate(const KindContext& context, std::string_view attr);

// Returns: the definition, or null.
const VertexKind* FindVertexKind(std::string_view name);
// In the order of kind_list.inc.
absl::Span<const VertexKind> AllVertexKinds();

// Each function that a vertex calls, and for what: by name. A function's parameters say which of
// the two it is for. REQUIRES: the flow is checked.
std::map<std::string, FlowAttr::Calls, std::less<>> CalledFunctions(const Flow& flow);

// Whether row i of the results of the function for a batch (FlowAttr::Calls::kBatch) stands for
// record i: the results' leading extents are the symbol of the parameters.
// REQUIRES: the flow is checked, the vertex has the attribute.
bool AnswersRowByRow(const Flow& flow, const FlowVertex& vertex, std::string_view attr);

// What happens to a time from any input to any output, at the least.
// REQUIRES: the flow is checked. `depth` is that of the inputs.
PathSummary SummaryOf(const FlowVertex& vertex, int depth);
Routing RouteOf(const FlowVertex& vertex, int input);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_VERTEX_KIND_H_
