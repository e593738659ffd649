#include "server/jobs/bind_inputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"

namespace weir {
namespace {

std::string Quoted(std::string_view name) { return StrCat("'", name, "'"); }

std::string ListInputs(const std::vector<ProgramInput>& inputs) {
  if (inputs.empty()) return "it has no inputs";
  std::vector<std::string> texts;
  for (const ProgramInput& input : inputs) {
    texts.push_back(StrCat(Quoted(input.name), " ", input.type.ToString()));
  }
  return StrCat(inputs.size() == 1 ? "its input is " : "its inputs are ",
                absl::StrJoin(texts, ", "));
}

absl::StatusOr<std::vector<Tensor>> InOrder(const std::vector<ProgramInput>& inputs,
                                            const std::vector<std::string>& names,
                                            std::vector<Tensor> tensors) {
  if (names.size() != tensors.size()) {
    return InvalidArgument("the job names ", names.size(), " inputs and brings ", tensors.size(),
                           " tensors");
  }
  std::vector<std::optional<Tensor>> found(inputs.size());
  for (size_t i = 0; i < names.size(); ++i) {
    auto it = std::find_if(inputs.begin(), inputs.end(),
                           [&](const ProgramInput& input) { return input.name == names[i]; });
    if (it == inputs.end()) {
      return InvalidArgument("the program has no input ", Quoted(names[i]), "; ",
                             ListInputs(inputs));
    }
    std::optional<Tensor>& slot = found[it - inputs.begin()];
    if (slot.has_value()) return InvalidArgument("input ", Quoted(names[i]), " is given twice");
    slot = std::move(tensors[i]);
  }
  std::vector<Tensor> ordered;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i].has_value()) {
      return InvalidArgument("input ", Quoted(inputs[i].name), " is missing: the program takes ",
                             inputs[i].type.ToString());
    }
    ordered.push_back(*std::move(found[i]));
  }
  return ordered;
}

absl::Status CheckTypeAndRank(const ProgramInput& input, const Tensor& tensor) {
  const std::string shape = ExtentsToString(tensor.extents());
  if (tensor.dtype() != input.type.dtype) {
    return InvalidArgument("input ", Quoted(input.name), " has element type ",
                           DTypeName(tensor.dtype()), ", but the program takes ",
                           input.type.ToString());
  }
  if (input.mapped && tensor.rank() == 0) {
    return InvalidArgument("input ", Quoted(input.name),
                           " is mapped over its leading axis, but its file has shape []");
  }
  if (tensor.rank() == input.type.rank()) return absl::OkStatus();
  if (input.mapped && tensor.rank() + 1 == input.type.rank()) {
    return InvalidArgument("input ", Quoted(input.name),
                           " is mapped over its leading axis, but its file has shape ", shape,
                           ", without an axis in front of the example: the program takes ",
                           input.type.shape.ToString());
  }
  return InvalidArgument("input ", Quoted(input.name), " has shape ", shape, " of rank ",
                         tensor.rank(), ", but the program takes ", input.type.shape.ToString(),
                         " of rank ", input.type.rank());
}

std::string Wanted(const ProgramInput& input, const Tensor& tensor) {
  return StrCat(
      "input ", Quoted(input.name), " has shape ", ExtentsToString(tensor.extents()), ", but ",
      input.used_by.empty() ? std::string("the program") : input.used_by + ", which reads it,",
      " takes ", input.type.shape.ToString());
}

// Lone symbols take their values from the first input that has them.
class SymbolBinder {
 public:
  absl::Status Bind(const ProgramInput& input, const Tensor& tensor) {
    for (int axis = 0; axis < input.type.rank(); ++axis) {
      const Dim& dim = input.type.shape[axis];
      if (!dim.is_symbol()) continue;
      const int64_t extent = tensor.extent(axis);
      const Source source{&input, axis, extent};
      const auto [it, is_new] = sources_.try_emplace(dim.symbol(), source);
      if (!is_new && it->second.extent != extent) return Conflict(it->second, source, tensor);
      symbols_.emplace(dim.symbol(), extent);
    }
    return absl::OkStatus();
  }

  absl::Status Check(const ProgramInput& input, const Tensor& tensor) const {
    for (int axis = 0; axis < input.type.rank(); ++axis) {
      const Dim& dim = input.type.shape[axis];
      if (dim.is_unknown()) continue;
      const absl::StatusOr<int64_t> wanted = dim.Evaluate(symbols_);
      if (!wanted.ok()) {
        return InvalidArgument(Wanted(input, tensor), ": axis ", axis, ": ",
                               ToStd(wanted.status().message()));
      }
      if (*wanted == tensor.extent(axis)) continue;
      return InvalidArgument(Wanted(input, tensor), ": axis ", axis, " is ", tensor.extent(axis),
                             " instead of ", *wanted);
    }
    return absl::OkStatus();
  }

  SymbolBindings Take() { return std::move(symbols_); }

 private:
  struct Source {
    const ProgramInput* input;
    int axis;
    int64_t extent;
  };

  static absl::Status Conflict(const Source& first, const Source& second, const Tensor& tensor) {
    const bool lengths =
        first.input->mapped && second.input->mapped && first.axis == 0 && second.axis == 0;
    if (lengths) {
      return InvalidArgument("mapped inputs have different lengths: ", Quoted(first.input->name),
                             " has ", first.extent, " rows, ", Quoted(second.input->name), " has ",
                             second.extent);
    }
    return InvalidArgument(Wanted(*second.input, tensor), ": axis ", second.axis, " is ",
                           second.extent, ", but ", second.input->type.shape[second.axis].symbol(),
                           " is ", first.extent, " in input ", Quoted(first.input->name));
  }

  SymbolBindings symbols_;
  std::map<std::string, Source> sources_;
};

}  // namespace

absl::StatusOr<BoundInputs> BindInputs(const std::vector<ProgramInput>& inputs,
                                       const std::vector<std::string>& names,
                                       std::vector<Tensor> tensors) {
  BoundInputs bound;
  WEIR_ASSIGN_OR_RETURN(bound.feeds, InOrder(inputs, names, std::move(tensors)));
  SymbolBinder binder;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEIR_RETURN_IF_ERROR(CheckTypeAndRank(inputs[i], bound.feeds[i]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEIR_RETURN_IF_ERROR(binder.Bind(inputs[i], bound.feeds[i]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEIR_RETURN_IF_ERROR(binder.Check(inputs[i], bound.feeds[i]));
  }
  bound.symbols = binder.Take();
  bound.variables.resize(inputs.size(), nullptr);
  return bound;
}

}  // namespace weir
