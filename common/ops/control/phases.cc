#include "common/ops/control/phases.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/base/status.h"
#include "common/ir/builder.h"
#include "common/ir/clone.h"
#include "common/ops/control/loop_body.h"
#include "common/ops/control/meetings.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"
#include "common/ops/lang.h"
#include "common/ops/registry.h"

namespace weir {
namespace {

constexpr std::string_view kReduction = "iteration_reduce";

using Values = std::vector<ValueId>;
using Replacements = absl::flat_hash_map<ValueId, ValueId>;

Values Joined(Values first, const Values& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class Splitter {
 public:
  explicit Splitter(Graph* graph) : graph_(graph) {}

  // Rebuilds the node list of a region, pfors inside of others first.
  absl::Status Walk(RegionId region, bool in_pfor) {
    const std::vector<NodeId> nodes = std::exchange(graph_->region(region).nodes, {});
    for (NodeId id : nodes) {
      const bool is_pfor = graph_->node(id).op == "pfor";
      if (graph_->node(id).op == kReduction && !in_pfor) {
        return InvalidArgument(graph_->Describe(id),
                               ": reduces over the iterations of a loop, so it must stand in the "
                               "body of a pfor");
      }
      const std::vector<RegionId> inner = graph_->node(id).regions;
      for (RegionId r : inner) WEIR_RETURN_IF_ERROR(Walk(r, in_pfor || is_pfor));
      if (is_pfor) {
        WEIR_RETURN_IF_ERROR(Annotate(Split(id, region), graph_->Describe(id)));
      } else {
        graph_->region(region).nodes.push_back(id);
      }
    }
    return absl::OkStatus();
  }

 private:
  // A pfor, of which a part has been made a loop of its own.
  struct Loop {
    NodeId id;
    RegionId parent;
    Node node;  // a copy: building moves the graph's tables
    Region body;
    Dim extent;

    ValueId index() const { return body.args[0]; }
    ValueId count() const { return node.inputs.empty() ? ValueId() : node.inputs[0]; }
  };

  // Appends a pfor to `parent`, behind the loops that its iterations meet between.
  absl::Status Split(NodeId id, RegionId parent) {
    const RegionId body = graph_->node(id).regions[0];
    for (int at = control::FirstMeeting(*graph_, body); at >= 0;
         at = control::FirstMeeting(*graph_, body)) {
      const NodeId meeting = graph_->region(body).nodes[static_cast<size_t>(at)];
      const std::string& op = graph_->node(meeting).op;
      if (op == kReduction) {
        WEIR_RETURN_IF_ERROR(CutAt(id, parent, at));
      } else if (op == "while" || op == "for") {
        WEIR_RETURN_IF_ERROR(Annotate(TakeLoopOut(id, parent, at), graph_->Describe(meeting)));
      } else {
        WEIR_RETURN_IF_ERROR(control::LiftFirstMeeting(graph_, body, at));
      }
    }
    graph_->region(parent).nodes.push_back(id);
    return absl::OkStatus();
  }

  Loop LoopOf(NodeId id, RegionId parent) const {
    const Node& node = graph_->node(id);
    return {id, parent, node, graph_->region(node.regions[0]), node.attr("extent").AsDims()[0]};
  }

  // A builder of what comes in front of a loop.
  Builder InFrontOf(const Loop& loop) const {
    Builder outside(graph_, loop.parent, &Ops());
    outside.SetLocation(loop.node.location);
    outside.SetName(loop.node.name);
    return outside;
  }

  // What all iterations do before they meet: the nodes in front of place `at`, but for those that
  // see nothing of the loop and move out of it for good.
  std::vector<NodeId> NodesBefore(Loop* loop, int at) {
    std::vector<NodeId>& nodes = loop->body.nodes;
    const std::vector<NodeId> after(nodes.begin() + at, nodes.end());
    const std::vector<NodeId> before = control::MoveOutInvariant(
        graph_, std::vector<NodeId>(nodes.begin(), nodes.begin() + at), loop->parent);
    control::DropControlInputs(graph_, after);
    nodes = before;
    nodes.insert(nodes.end(), after.begin(), after.end());
    return before;
  }

  // A pfor over the same iterations as `loop` with what `build` makes of (builder, iteration).
  template <class Build>
  absl::StatusOr<Values> RunForAll(const Loop& loop, Builder& outside, const Build& build) {
    Builder inside = outside.In(outside.NewRegion());
    const ValueId index = inside.AddArg(control::IndexType(), "i");
    inside.Yield(build(inside, index));
    const Values rows =
        outside.ApplyAll("pfor", loop.node.inputs, loop.node.attrs, {inside.region()});
    WEIR_RETURN_IF_ERROR(outside.status());
    // It may be one whose iterations meet.
    std::vector<NodeId>& nodes = graph_->region(outside.region()).nodes;
    const NodeId made = nodes.back();
    nodes.pop_back();
    WEIR_RETURN_IF_ERROR(Split(made, outside.region()));
    return rows;
  }

  // The nodes of `before` in a loop of their own. Returns: the rows of `values`, and behind them
  // those of what `more` makes of the values' images.
  template <class More>
  absl::StatusOr<Values> RunBefore(const Loop& loop, Builder& outside,
                                   const std::vector<NodeId>& before, const Values& values,
                                   const More& more) {
    return RunForAll(loop, outside, [&](Builder& inside, ValueId index) {
      ValueMap map = {{loop.index(), index}};
      absl::flat_hash_map<NodeId, NodeId> clones;
      for (NodeId id : before) {
        CloneNode(*graph_, id, graph_, inside.region(), &map, &clones);
      }
      Values results;
      for (ValueId value : values) {
        auto it = map.find(value);
        results.push_back(it == map.end() ? value : it->second);
      }
      return Joined(std::move(results), more(inside, &map));
    });
  }

  // Leaves `after` in the loop, reading `values` by row.
  absl::Status Continue(const Loop& loop, const std::vector<NodeId>& after, const Values& values,
                        const Values& rows, Replacements replacements) {
    graph_->region(loop.node.regions[0]).nodes.clear();
    Builder rest(graph_, loop.node.regions[0], &Ops());
    for (size_t k = 0; k < values.size(); ++k) {
      replacements.emplace(values[k], TakeRow(rest, rows[k], loop.index()));
    }
    WEIR_RETURN_IF_ERROR(rest.status());
    std::vector<NodeId>& nodes = graph_->region(loop.node.regions[0]).nodes;
    nodes.insert(nodes.end(), after.begin(), after.end());
    graph_->ReplaceUses(replacements);
    return absl::OkStatus();
  }

  absl::Status CheckExtent(const Loop& loop, NodeId reduction) const {
    const Dim& found = graph_->node(reduction).attr("extent").AsDims()[0];
    if (found == loop.extent) return absl::OkStatus();
    return InvalidArgument(graph_->Describe(reduction), ": has the extent ", found.ToString(),
                           ", but the loop around it ", loop.extent.ToString());
  }

  // A body cut at reductions over the iterations.
  struct Parts {
    std::vector<NodeId> before, reductions, after;
  };

  // The reductions from place `at` on that need nothing of one another share a cut, with what they
  // need in front of it.
  Parts PartsAt(const Loop& loop, size_t at) const {
    const std::vector<NodeId>& nodes = loop.body.nodes;
    absl::flat_hash_set<ValueId> later, needed;
    std::vector<bool> reduces(nodes.size());
    for (size_t k = at; k < nodes.size(); ++k) {
      const Values uses = control::UsesOf(*graph_, nodes[k]);
      bool waits =
          std::any_of(uses.begin(), uses.end(), [&](ValueId x) { return later.contains(x); });
      reduces[k] = !waits && graph_->node(nodes[k]).op == kReduction;
      if (reduces[k]) needed.insert(uses[0]);
      waits = waits || control::Meets(*graph_, nodes[k]);
      if (waits)
        later.insert(graph_->node(nodes[k]).outputs.begin(), graph_->node(nodes[k]).outputs.end());
    }
    std::vector<bool> leads(nodes.size());
    for (size_t k = nodes.size(); k-- > 0;) {
      const Values& outputs = graph_->node(nodes[k]).outputs;
      leads[k] = k < at || std::any_of(outputs.begin(), outputs.end(),
                                       [&](ValueId x) { return needed.contains(x); });
      if (k < at || !leads[k]) continue;
      const Values uses = control::UsesOf(*graph_, nodes[k]);
      needed.insert(uses.begin(), uses.end());
    }
    Parts parts;
    for (size_t k = 0; k < nodes.size(); ++k) {
      (leads[k] ? parts.before : reduces[k] ? parts.reductions : parts.after).push_back(nodes[k]);
    }
    return parts;
  }

  // Cuts the loop at the reductions at place `at` of its body.
  absl::Status CutAt(NodeId id, RegionId parent, int at) {
    Loop loop = LoopOf(id, parent);
    const size_t place = NodesBefore(&loop, at).size();
    const auto [before, reductions, after] = PartsAt(loop, place);
    Values reduced;
    for (NodeId reduction : reductions) {
      WEIR_RETURN_IF_ERROR(CheckExtent(loop, reduction));
      reduced.push_back(graph_->node(reduction).inputs[0]);
    }
    const Values live = control::LiveValues(*graph_, before, after, loop.body.results);
    Builder outside = InFrontOf(loop);
    WEIR_ASSIGN_OR_RETURN(const Values rows,
                          RunBefore(loop, outside, before, Joined(reduced, live),
                                    [](Builder&, ValueMap*) { return Values(); }));
    Replacements replacements;
    for (size_t k = 0; k < reductions.size(); ++k) {
      const Node reduction = graph_->node(reductions[k]);
      outside.SetLocation(reduction.location);
      const std::string& kind = reduction.attr("kind").AsString();
      replacements.emplace(reduction.outputs[0],
                           control::ReduceIterations(outside, kind, rows[k], loop.count()));
    }
    WEIR_RETURN_IF_ERROR(outside.status());
    return Continue(loop, after, live, Values(rows.begin() + reduced.size(), rows.end()),
                    std::move(replacements));
  }

  // A loop of each iteration in whose trips they meet becomes one loop around a pfor, which runs as
  // long as one of them does.
  absl::Status TakeLoopOut(NodeId id, RegionId parent, int at) {
    Loop loop = LoopOf(id, parent);
    const std::vector<NodeId> before = NodesBefore(&loop, at);
    const std::vector<NodeId> rest(loop.body.nodes.begin() + before.size(), loop.body.nodes.end());
    const std::vector<NodeId> after(rest.begin() + 1, rest.end());
    const Node trips = graph_->node(rest[0]);
    Values used = loop.body.results;
    for (RegionId region : trips.regions) used = Joined(used, graph_->Captures(region));
    const Values live = control::LiveValues(*graph_, before, after, used);
    Builder outside = InFrontOf(loop);
    Values rows, made;
    if (trips.op == "while") {
      WEIR_ASSIGN_OR_RETURN(made, TakeWhileOut(loop, trips, before, live, outside, &rows));
    } else {
      WEIR_ASSIGN_OR_RETURN(made, TakeForOut(loop, trips, before, live, outside, &rows));
    }
    return Continue(loop, after, Joined(live, trips.outputs), Joined(rows, made), {});
  }

  // Binds values to their rows.
  static void Take(Builder& inside, const Values& values, const Values& rows, ValueId index,
                   ValueMap* map) {
    for (size_t k = 0; k < values.size(); ++k) {
      map->insert_or_assign(values[k], TakeRow(inside, rows[k], index));
    }
  }

  // The results of a region for the arguments given.
  Values Cloned(Builder& inside, RegionId region, const Values& args, ValueMap map) {
    const Values params = graph_->region(region).args;
    for (size_t k = 0; k < args.size(); ++k) map.insert_or_assign(params[k], args[k]);
    return CloneRegionBody(*graph_, region, graph_, inside.region(), &map);
  }

  static Values Images(const Values& values, const ValueMap& map) {
    Values images = values;
    for (ValueId& value : images) {
      if (auto it = map.find(value); it != map.end()) value = it->second;
    }
    return images;
  }

  // Returns: the rows of the outputs; and those of `live`.
  absl::StatusOr<Values> TakeWhileOut(const Loop& loop, const Node& trips,
                                      const std::vector<NodeId>& before, const Values& live,
                                      Builder& outside, Values* rows) {
    const RegionId condition = trips.regions[0], step = trips.regions[1];
    WEIR_ASSIGN_OR_RETURN(
        Values state, RunBefore(loop, outside, before, live, [&](Builder& inside, ValueMap* map) {
          const Values starts = Images(trips.inputs, *map);
          return Joined(starts, Cloned(inside, condition, starts, *map));
        }));
    rows->assign(state.begin(), state.begin() + live.size());
    state.erase(state.begin(), state.begin() + live.size());
    Builder goes_on = outside.In(outside.NewRegion()), trip = outside.In(outside.NewRegion());
    Values carried;
    for (ValueId value : state) {
      goes_on.AddArg(graph_->type(value));
      carried.push_back(trip.AddArg(graph_->type(value)));
    }
    const ValueId active = graph_->region(goes_on.region()).args.back();
    goes_on.Yield({Reduce(goes_on, "reduce_or", active, {0})});
    WEIR_RETURN_IF_ERROR(outside.status());
    WEIR_ASSIGN_OR_RETURN(
        const Values next, RunForAll(loop, trip, [&](Builder& inside, ValueId index) {
          ValueMap map = {{loop.index(), index}};
          Take(inside, live, *rows, index, &map);
          Values own;
          for (ValueId value : carried) own.push_back(TakeRow(inside, value, index));
          const ValueId runs = own.back();
          own.pop_back();
          Builder some = inside.In(inside.NewRegion()), none = inside.In(inside.NewRegion());
          const Values made = Cloned(some, step, own, map);
          some.Yield(Joined(made, Cloned(some, condition, made, map)));
          none.Yield(Joined(own, {none.Scalar<bool>(false)}));
          return inside.ApplyAll("if", {runs}, {}, {some.region(), none.region()});
        }));
    trip.Yield(next);
    Values made =
        outside.ApplyAll("while", std::move(state), {}, {goes_on.region(), trip.region()});
    WEIR_RETURN_IF_ERROR(outside.status());
    made.pop_back();
    return made;
  }

  // Returns: the rows of the outputs; and those of `live`.
  absl::StatusOr<Values> TakeForOut(const Loop& loop, const Node& trips,
                                    const std::vector<NodeId>& before, const Values& live,
                                    Builder& outside, Values* rows) {
    const Attr* collects = trips.FindAttr("extent");
    const bool differ = !graph_->Contains(graph_->value(trips.inputs[0]).region, loop.parent);
    WEIR_ASSIGN_OR_RETURN(
        Values state, RunBefore(loop, outside, before, live, [&](Builder& inside, ValueMap* map) {
          Values starts = Images(trips.inputs, *map);
          if (collects != nullptr && differ) CheckTrips(inside, starts[0], collects->AsDims()[0]);
          return starts;
        }));
    rows->assign(state.begin(), state.begin() + live.size());
    const ValueId own_trips = state[live.size()];
    state.erase(state.begin(), state.begin() + live.size() + 1);
    ValueId most = trips.inputs[0];
    if (differ && collects != nullptr) {
      most = DimValue(outside, collects->AsDims()[0]);
    } else if (differ) {
      most = control::ReduceIterations(outside, "max", own_trips, loop.count());
    }
    Builder trip = outside.In(outside.NewRegion());
    const ValueId number = trip.AddArg(control::IndexType());
    Values carried;
    for (ValueId value : state) carried.push_back(trip.AddArg(graph_->type(value)));
    WEIR_RETURN_IF_ERROR(outside.status());
    WEIR_ASSIGN_OR_RETURN(
        const Values next, RunForAll(loop, trip, [&](Builder& inside, ValueId index) {
          ValueMap map = {{loop.index(), index}};
          Take(inside, live, *rows, index, &map);
          Values args = {number};
          for (ValueId value : carried) args.push_back(TakeRow(inside, value, index));
          if (!differ || collects != nullptr) return Cloned(inside, trips.regions[0], args, map);
          const ValueId limit = TakeRow(inside, own_trips, index);
          const ValueId runs = inside.Apply("less", {number, limit});
          Builder some = inside.In(inside.NewRegion()), none = inside.In(inside.NewRegion());
          some.Yield(Cloned(some, trips.regions[0], args, map));
          none.Yield(Values(args.begin() + 1, args.end()));
          return inside.ApplyAll("if", {runs}, {}, {some.region(), none.region()});
        }));
    trip.Yield(next);
    const size_t num_carried = state.size();
    Values made = outside.ApplyAll("for", Joined({most}, state), trips.attrs, {trip.region()});
    WEIR_RETURN_IF_ERROR(outside.status());
    for (size_t k = num_carried; k < made.size(); ++k) {
      made[k] = control::SwapLeading(outside, made[k]);
    }
    return made;
  }

  static void CheckTrips(Builder& b, ValueId trips, const Dim& extent) {
    b.ApplyAll("check", {b.Apply("equal", {trips, DimValue(b, extent)})},
               {{"message", StrCat("the trip count is not ", extent.ToString(),
                                   ", the extent of what the loop collects")}});
  }

  Graph* graph_;
};

}  // namespace

absl::Status SplitPhases(Graph* graph) {
  Splitter splitter(graph);
  std::vector<RegionId> bodies;
  for (const Function& function : graph->functions()) bodies.push_back(function.body);
  for (RegionId body : bodies) WEIR_RETURN_IF_ERROR(splitter.Walk(body, false));
  return absl::OkStatus();
}

}  // namespace weir
