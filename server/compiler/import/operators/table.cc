#include <map>
#include <string_view>

#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {

#define WEIR_ONNX(Operator) absl::Status Translate##Operator(OnnxNode& node);
#include "server/compiler/import/operators/list.inc"
#undef WEIR_ONNX

Translation FindTranslation(std::string_view op) {
  static const auto& table = *new std::map<std::string_view, Translation>{
#define WEIR_ONNX(Operator) {#Operator, &Translate##Operator},
#include "server/compiler/import/operators/list.inc"
#undef WEIR_ONNX
  };
  auto it = table.find(op);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace weir::onnx_import
