// The values of an ONNX graph by name, with what is known of them while importing. Belongs to one
// import; thread-compatible.
#ifndef WEIR_SERVER_COMPILER_IMPORT_SCOPE_H_
#define WEIR_SERVER_COMPILER_IMPORT_SCOPE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/ir/graph.h"
#include "common/tensor/tensor.h"

namespace weir::onnx_import {

// A value is known in one or more ways; the node that makes it is only built when somebody needs
// it.
struct Imported {
  ValueId id;
  std::optional<Tensor> constant;
  // An i64 vector (or scalar) whose elements are dimensions.
  std::optional<std::vector<Dim>> dims;
  bool dims_scalar = false;
};

class Scope {
 public:
  explicit Scope(Scope* parent = nullptr) : parent_(parent) {}

  // Returns: the value, or null if neither this graph nor one around it has it.
  Imported* Find(const std::string& name) {
    auto it = values_.find(name);
    if (it != values_.end()) return &it->second;
    return parent_ == nullptr ? nullptr : parent_->Find(name);
  }
  void Define(const std::string& name, Imported value) {
    values_.insert_or_assign(name, std::move(value));
  }

 private:
  Scope* parent_;
  std::map<std::string, Imported> values_;
};

}  // namespace weir::onnx_import

#endif  // WEIR_SERVER_COMPILER_IMPORT_SCOPE_H_
