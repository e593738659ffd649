#include "common/ops/control/recursion.h"

#include <algorithm>

#include "common/base/str_cat.h"

namespace weir {
namespace {

void CollectCallees(const Graph& graph, RegionId region, FunctionNames* out) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call") out->insert(node.attr("callee").AsString());
    for (RegionId inner : node.regions) CollectCallees(graph, inner, out);
  }
}

// The functions that each function reaches by one call or more.
std::map<std::string, FunctionNames> Reached(const Graph& graph) {
  std::map<std::string, FunctionNames> reach;
  for (const Function& function : graph.functions()) {
    reach.emplace(function.name, CalleesOf(graph, function.body));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [name, callees] : reach) {
      FunctionNames grown = callees;
      for (const std::string& callee : callees) {
        auto it = reach.find(callee);
        if (it != reach.end()) grown.insert(it->second.begin(), it->second.end());
      }
      if (grown.size() == callees.size()) continue;
      callees = std::move(grown);
      changed = true;
    }
  }
  return reach;
}

}  // namespace

FunctionNames CalleesOf(const Graph& graph, RegionId region) {
  FunctionNames callees;
  CollectCallees(graph, region, &callees);
  return callees;
}

bool IsTailCall(const Graph& graph, NodeId call) {
  const Node& node = graph.node(call);
  const Region& region = graph.region(node.parent);
  if (region.nodes.back() != call || region.results != node.outputs) return false;
  if (!region.parent.valid()) return true;
  const std::string& around = graph.node(region.parent).op;
  return (around == "if" || around == "case") && IsTailCall(graph, region.parent);
}

Recursion::Recursion(const Graph& graph) {
  FindSets(graph);
  for (const Function& function : graph.functions()) {
    const int set = SetOf(function.name);
    if (set >= 0) FindCalls(graph, function.body, set);
  }
}

void Recursion::FindSets(const Graph& graph) {
  const std::map<std::string, FunctionNames> reach = Reached(graph);
  for (const Function& function : graph.functions()) {
    const FunctionNames& reached = reach.at(function.name);
    if (!reached.contains(function.name)) continue;
    int set = -1;
    for (const std::string& other : reached) {
      const int known = SetOf(other);
      if (known >= 0 && reach.at(other).contains(function.name)) set = known;
    }
    if (set < 0) {
      set = static_cast<int>(sets_.size());
      sets_.emplace_back();
      sets_.back().max_depth = 0;
    }
    sets_[set].functions.push_back(function.name);
    set_of_.emplace(function.name, set);
  }
}

void Recursion::FindCalls(const Graph& graph, RegionId region, int set) {
  for (NodeId id : graph.region(region).nodes) {
    const Node& node = graph.node(id);
    if (node.op == "call" && SetOf(node.attr("callee").AsString()) == set) {
      calls_.emplace(id, Call{set, IsTailCall(graph, id)});
      const Attr* depth = node.FindAttr("max_depth");
      sets_[set].max_depth =
          std::max(sets_[set].max_depth, depth == nullptr ? kDefaultMaxDepth : depth->AsInt());
    }
    for (RegionId inner : node.regions) FindCalls(graph, inner, set);
  }
}

int Recursion::SetOf(std::string_view function) const {
  const auto it = set_of_.find(function);
  return it == set_of_.end() ? -1 : it->second;
}

const Recursion::Call* Recursion::Find(NodeId node) const {
  const auto it = calls_.find(node);
  return it == calls_.end() ? nullptr : &it->second;
}

std::string TooDeepText(const Recursion::Set& set) {
  std::string names;
  for (const std::string& function : set.functions) {
    StrAppend(&names, names.empty() ? "@" : ", @", function);
  }
  return StrCat("recursion of ", names, " is more than ", set.max_depth,
                " calls deep: raise max_depth, or look for a case that never ends");
}

}  // namespace weir
