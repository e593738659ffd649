// Walks an ONNX graph node by node. Belongs to one import; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_IMPORT_GRAPH_IMPORTER_H_
#define WEIR_SERVER_COMPILER_IMPORT_GRAPH_IMPORTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ir/builder.h"
#include "server/compiler/import/scope.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace weir::onnx_import {

class GraphImporter {
 public:
  // Constants go to `root`, the body of the function, where every region sees them.
  GraphImporter(std::string file, int opset, Builder root);

  // Translates the nodes of `proto` with `into`. Names that `scope` and the scopes around it have
  // may be used.
  absl::Status ImportNodes(const onnx::GraphProto& proto, Scope* scope, Builder into);
  // The graph's outputs as values. REQUIRES: ImportNodes was called with this scope.
  absl::StatusOr<std::vector<ValueId>> Outputs(const onnx::GraphProto& proto, Scope* scope,
                                               Builder& into);

  // The node that makes a value, built now if nobody needed it before.
  ValueId Materialize(Imported* value, Builder& into);

  // The scope of the graph whose node is being translated: what its subgraphs see.
  Scope* scope() { return scope_; }

 private:
  absl::Status ImportNode(const onnx::NodeProto& proto, int position, Scope* scope, Builder& into);
  absl::Status Translate(const onnx::NodeProto& proto, Scope* scope, Builder& into,
                         const std::vector<Imported*>& inputs);
  // Runs a node whose operands are all constants now. Returns: false if it must stay a node.
  absl::StatusOr<bool> Evaluate(const onnx::NodeProto& proto, const std::vector<Imported*>& inputs,
                                std::vector<Imported>* results);

  const std::string file_;
  const int opset_;
  Builder root_;
  Scope* scope_ = nullptr;
  int depth_ = 0;
};

}  // namespace weir::onnx_import

#endif  // WEIR_SERVER_COMPILER_IMPORT_GRAPH_IMPORTER_H_
