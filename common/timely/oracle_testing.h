// What progress tracking must say, worked out the slow way for tests: plain vectors, no summaries,
// no order of work. It shares the numbers of locations with Topology and nothing else.
#ifndef WEIR_COMMON_TIMELY_ORACLE_TESTING_H_
#define WEIR_COMMON_TIMELY_ORACLE_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/timely/mutable_antichain.h"
#include "common/timely/topology.h"

namespace weir {

using OracleTime = std::vector<int64_t>;
// (location, time) -> count.
using OracleCounts = std::map<std::pair<int64_t, OracleTime>, int64_t>;
using OracleTimes = std::set<OracleTime>;

inline OracleTime ToOracle(const Timestamp& time) {
  return {time.coordinates().begin(), time.coordinates().end()};
}
inline Timestamp FromOracle(const OracleTime& time) {
  return Timestamp(Coordinates(time.begin(), time.end()));
}
inline OracleTimes ToOracle(const Frontier& frontier) {
  OracleTimes times;
  for (const Timestamp& time : frontier) times.insert(ToOracle(time));
  return times;
}

inline bool OracleLessEqual(const OracleTime& a, const OracleTime& b) {
  bool all = a.size() == b.size();
  for (size_t i = 0; i < a.size(); ++i) all = all && a[i] <= b[i];
  return all;
}
inline bool OracleCovers(const OracleTimes& frontier, const OracleTime& time) {
  return std::any_of(frontier.begin(), frontier.end(),
                     [&](const OracleTime& element) { return OracleLessEqual(element, time); });
}
inline OracleTimes Minimal(const OracleTimes& times) {
  OracleTimes minimal;
  for (const OracleTime& time : times) {
    bool is_least = true;
    for (const OracleTime& other : times) {
      is_least = is_least && (other == time || !OracleLessEqual(other, time));
    }
    if (is_least) minimal.insert(time);
  }
  return minimal;
}

class Oracle {
 public:
  struct Way {
    int64_t from = 0, to = 0;
    std::vector<int64_t> add, append;
  };

  // The ways of a graph, with the numbers that `topology` gives to its places.
  explicit Oracle(const Topology& topology) : Oracle(topology.graph()) {}
  explicit Oracle(const LogicalGraph& graph) {
    // Inputs, requests and outputs of each vertex in turn, as topology.h says.
    for (const LogicalGraph::Vertex& vertex : graph.vertices()) {
      first_.push_back(static_cast<int64_t>(sizes_.size()));
      for (int twice = 0; twice < 2; ++twice) {
        for (ScopeId scope : vertex.inputs) sizes_.push_back(graph.scope(scope).depth + 1);
      }
      for (ScopeId scope : vertex.outputs) sizes_.push_back(graph.scope(scope).depth + 1);
    }
    for (size_t v = 0; v < graph.vertices().size(); ++v) AddInner(graph.vertices()[v], first_[v]);
    for (const LogicalGraph::Edge& edge : graph.edges()) {
      const int64_t from = edge.from.vertex.value();
      const int64_t inputs = static_cast<int64_t>(graph.vertices()[from].inputs.size());
      const int64_t to = first_[edge.to.vertex.value()] + edge.to.number;
      ways_.push_back({first_[from] + 2 * inputs + edge.from.number,
                       to,
                       std::vector<int64_t>(sizes_[to], 0),
                       {}});
    }
  }

  int64_t num_locations() const { return static_cast<int64_t>(sizes_.size()); }
  int size(int64_t location) const { return sizes_[location]; }
  const std::vector<Way>& ways() const { return ways_; }

  static OracleTime Apply(const Way& way, const OracleTime& time) {
    OracleTime result;
    for (size_t i = 0; i < way.add.size(); ++i) result.push_back(time[i] + way.add[i]);
    result.insert(result.end(), way.append.begin(), way.append.end());
    return result;
  }

  // Returns: by location, the least times at which something can come that is or follows from what
  // has a positive count; by going every way with everything until nothing new comes up.
  std::vector<OracleTimes> Frontiers(const OracleCounts& counts) const {
    std::vector<OracleTimes> times(sizes_.size());
    for (const auto& [pointstamp, count] : counts) {
      if (count > 0) times[pointstamp.first].insert(pointstamp.second);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Way& way : ways_) {
        const OracleTimes from = times[way.from];  // as the two may be the same
        for (const OracleTime& time : from) {
          const OracleTime later = Apply(way, time);
          if (OracleCovers(times[way.to], later)) continue;
          times[way.to].insert(later);
          changed = true;
        }
      }
    }
    for (OracleTimes& some : times) some = Minimal(some);
    return times;
  }

  // Returns: whether some way round adds nothing to what it keeps. Walks every state (place, how
  // many coordinates are kept, which of them grew) that can be reached from each place.
  bool HasIdleCycle() const {
    for (int64_t start = 0; start < num_locations(); ++start) {
      using State = std::tuple<int64_t, size_t, uint64_t>;
      std::set<State> seen;
      std::vector<State> waiting = {{start, static_cast<size_t>(sizes_[start]), 0}};
      while (!waiting.empty()) {
        const auto [place, kept, grown] = waiting.back();
        waiting.pop_back();
        for (const Way& way : ways_) {
          if (way.from != place) continue;
          const size_t now_kept = std::min(kept, way.add.size());
          uint64_t now_grown = grown & ((uint64_t{1} << now_kept) - 1);
          for (size_t i = 0; i < now_kept; ++i) {
            if (way.add[i] > 0) now_grown |= uint64_t{1} << i;
          }
          if (way.to == start && now_grown == 0) return true;
          if (seen.emplace(way.to, now_kept, now_grown).second) {
            waiting.emplace_back(way.to, now_kept, now_grown);
          }
        }
      }
    }
    return false;
  }

 private:
  void AddInner(const LogicalGraph::Vertex& vertex, int64_t first) {
    const int64_t inputs = static_cast<int64_t>(vertex.inputs.size());
    for (int64_t i = 0; i < inputs; ++i) {
      ways_.push_back(
          {first + i, first + inputs + i, std::vector<int64_t>(sizes_[first + i], 0), {}});
      for (size_t o = 0; o < vertex.outputs.size(); ++o) {
        const int64_t output = first + 2 * inputs + static_cast<int64_t>(o);
        for (const PathSummary& summary : vertex.summaries[i][o]) {
          for (const int64_t from : {first + i, first + inputs + i}) {
            ways_.push_back({from,
                             output,
                             {summary.add().begin(), summary.add().end()},
                             {summary.append().begin(), summary.append().end()}});
          }
        }
      }
    }
  }

  std::vector<int64_t> first_;  // of each vertex
  std::vector<int> sizes_;      // of times, by location
  std::vector<Way> ways_;
};

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_ORACLE_TESTING_H_
