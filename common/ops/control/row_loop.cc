#include "common/ops/control/row_loop.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ops/control/rows.h"

namespace weir::control {

namespace {

// True if the node takes elements of operand 0 at places of each iteration's own.
bool TakesPart(const PforRewrite& rewrite, const Node& node) {
  if (node.op != "gather" && node.op != "dynamic_slice") return false;
  return std::any_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId place) { return rewrite.varies(place); });
}

// True if only elements of the value are taken in the region: reading them by owner in each trip
// then costs no more than the elements.
bool ReadsInPartOnly(const PforRewrite& rewrite, RegionId region, ValueId value) {
  const Graph& graph = rewrite.source();
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    const size_t taken = TakesPart(rewrite, node) ? 1 : 0;
    if (std::count(node.inputs.begin() + taken, node.inputs.end(), value) > 0) return false;
    for (RegionId inner : node.regions) {
      if (!ReadsInPartOnly(rewrite, inner, value)) return false;
    }
  }
  const std::vector<ValueId>& results = graph.region(region).results;
  return std::count(results.begin(), results.end(), value) == 0;
}

bool ReadsInPartOnly(const PforRewrite& rewrite, ValueId value) {
  const std::vector<RegionId>& regions = rewrite.node().regions;
  return std::all_of(regions.begin(), regions.end(),
                     [&](RegionId region) { return ReadsInPartOnly(rewrite, region, value); });
}

}  // namespace

RowLoop::RowLoop(PforRewrite& rewrite, const Carried& loop)
    : rewrite_(rewrite),
      loop_(loop),
      local_(rewrite.FreshSymbol("k")),
      part_(Dim::Symbol(local_)),
      constants_(rewrite, part_) {
  const std::vector<ValueId>& args = rewrite.source().region(loop.body).args;
  for (int k = 0; k < loop.count; ++k) vary_.push_back(rewrite.varies(args[loop.first_arg + k]));
  for (bool rows : {false, true}) {
    for (int k = 0; k < loop.count; ++k) {
      if (vary_[k] == rows) order_.push_back(k);
    }
  }
  for (RegionId region : rewrite.node().regions) {
    for (ValueId capture : VaryingCaptures(rewrite, region)) {
      ReadsInPartOnly(rewrite, capture) ? constants_.AddByOwner(capture) : constants_.Add(capture);
    }
  }
}

RowLoop::Part RowLoop::NewPart() {
  Builder& build = rewrite_.build();
  Part part{.region = build.NewRegion(), .into = build};
  part.into = build.In(part.region);
  for (ValueId shared : extra_shared_) {
    part.extra_shared.push_back(part.into.AddArg(build.type(shared)));
  }
  const std::vector<ValueId> args = rewrite_.source().region(loop_.body).args;
  part.carried.resize(loop_.count);
  for (int k : order_) {
    const Value value = rewrite_.source().value(args[loop_.first_arg + k]);
    part.carried[k] =
        part.into.AddArg(vary_[k] ? WithLeading(part_, value.type) : value.type, value.name);
  }
  part.constants = constants_.AddArgs(part.into);
  return part;
}

absl::StatusOr<std::vector<ValueId>> RowLoop::Convert(const Part& part, RegionId source,
                                                      int first_arg) {
  const std::vector<ValueId> args = rewrite_.source().region(source).args;
  for (int k = 0; k < loop_.count; ++k) rewrite_.Bind(args[first_arg + k], part.carried[k]);
  return rewrite_.ConvertPart(source, part.into, part_, part.constants);
}

void RowLoop::Yield(Part& part, std::vector<ValueId> extra_shared,
                    const std::vector<ValueId>& carried) {
  std::vector<ValueId> results = std::move(extra_shared);
  const std::vector<ValueId> sources = rewrite_.source().region(loop_.body).results;
  for (int k : order_) {
    const bool repeat = vary_[k] && !rewrite_.varies(sources[k]);
    results.push_back(repeat ? RepeatRows(part.into, carried[k], part_) : carried[k]);
  }
  part.into.Yield(std::move(results));
}

std::vector<ValueId> RowLoop::Finish(RegionId condition, RegionId body) {
  std::vector<ValueId> operands = extra_shared_;
  for (int k : order_) {
    const int operand = loop_.first_operand + k;
    operands.push_back(vary_[k] ? rewrite_.stacked(operand) : rewrite_.operand(operand));
  }
  const int64_t carried = std::count(vary_.begin(), vary_.end(), true);
  const int64_t shared = static_cast<int64_t>(operands.size()) - carried;
  operands.insert(operands.end(), constants_.operands().begin(), constants_.operands().end());
  const std::vector<ValueId> outputs =
      rewrite_.build().ApplyAll("while_rows", std::move(operands),
                                {{"carried", carried},
                                 {"extent", std::vector<Dim>{rewrite_.extent()}},
                                 {"local", local_},
                                 {"shared", shared}},
                                {condition, body});
  std::vector<ValueId> results(loop_.count);
  if (outputs.empty()) return results;
  for (size_t i = 0; i < order_.size(); ++i) results[order_[i]] = outputs[extra_shared_.size() + i];
  return results;
}

}  // namespace weir::control
