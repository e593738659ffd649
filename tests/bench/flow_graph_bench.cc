// A client that runs an algorithm on a random graph as a flow and, next to it, as a plain program
// over arrays on one thread, and compares what they find.
//
//   flow_graph_bench CLUSTER FLOW.txt bfs|components|pagerank VERTICES EDGES TRIPS
//
// CLUSTER is HOST:PORT, or a number of workers in this process. The flow has the inputs `nodes`
// (i64[]: the root, or all vertices) and `edges` (i64[], i64[]), and an output `out` with one
// record: the sum of all distances that are finite, of all labels, or of all ranks of all trips.
// Records are fed first; the computation is timed from the moment that all of them lie on the
// workers. Prints seconds: feeding, computation, plain program (arrays by vertex made from the list
// of edges included).
#include <algorithm>
#include <cstdio>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/bench/bench_session.h"

namespace weir {
namespace {

constexpr absl::Duration kLimit = absl::Minutes(10);
constexpr int64_t kBatch = int64_t{64} << 10;
// As in the flow: whole numbers, so that sums have one result.
constexpr int64_t kOne = 1'000'000'000;

struct Graph {
  int64_t vertices = 0;
  std::vector<int64_t> from;
  std::vector<int64_t> to;
};

Graph RandomGraph(int64_t vertices, int64_t edges) {
  std::mt19937_64 random(1);
  Graph graph;
  graph.vertices = vertices;
  for (int64_t i = 0; i < edges; ++i) {
    graph.from.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(vertices)));
    graph.to.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(vertices)));
  }
  return graph;
}

// ---- Plain programs ----

// The ends of the edges of each vertex, one vertex behind the other.
struct Adjacency {
  std::vector<int64_t> begin;
  std::vector<int64_t> ends;
};

Adjacency AdjacencyOf(const Graph& graph) {
  Adjacency adjacency;
  adjacency.begin.assign(static_cast<size_t>(graph.vertices) + 1, 0);
  for (const int64_t vertex : graph.from) ++adjacency.begin[vertex + 1];
  std::partial_sum(adjacency.begin.begin(), adjacency.begin.end(), adjacency.begin.begin());
  std::vector<int64_t> next(adjacency.begin.begin(), adjacency.begin.end() - 1);
  adjacency.ends.resize(graph.to.size());
  for (size_t i = 0; i < graph.to.size(); ++i) adjacency.ends[next[graph.from[i]]++] = graph.to[i];
  return adjacency;
}

int64_t PlainBfs(const Graph& graph) {
  const Adjacency adjacency = AdjacencyOf(graph);
  std::vector<int64_t> distances(static_cast<size_t>(graph.vertices), -1);
  std::deque<int64_t> queue = {0};
  distances[0] = 0;
  int64_t sum = 0;
  for (; !queue.empty(); queue.pop_front()) {
    const int64_t vertex = queue.front();
    sum += distances[vertex];
    for (int64_t i = adjacency.begin[vertex]; i < adjacency.begin[vertex + 1]; ++i) {
      const int64_t end = adjacency.ends[i];
      if (distances[end] >= 0) continue;
      distances[end] = distances[vertex] + 1;
      queue.push_back(end);
    }
  }
  return sum;
}

// By a union of sets, in which the least vertex stands for a set.
int64_t PlainComponents(const Graph& graph) {
  std::vector<int64_t> parent(static_cast<size_t>(graph.vertices));
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](int64_t vertex) {
    while (parent[vertex] != vertex) vertex = parent[vertex] = parent[parent[vertex]];
    return vertex;
  };
  for (size_t i = 0; i < graph.from.size(); ++i) {
    const int64_t a = find(graph.from[i]);
    const int64_t b = find(graph.to[i]);
    parent[std::max(a, b)] = std::min(a, b);
  }
  int64_t sum = 0;
  for (int64_t vertex = 0; vertex < graph.vertices; ++vertex) sum += find(vertex);
  return sum;
}

int64_t PlainPageRank(const Graph& graph, int trips) {
  const Adjacency adjacency = AdjacencyOf(graph);
  std::vector<int64_t> ranks(static_cast<size_t>(graph.vertices), kOne);
  int64_t sum = 0;
  for (int trip = 0; trip < trips; ++trip) {
    sum = std::accumulate(ranks.begin(), ranks.end(), sum);
    std::vector<int64_t> next(ranks.size(), kOne * 3 / 20);
    for (int64_t vertex = 0; vertex < graph.vertices; ++vertex) {
      const int64_t begin = adjacency.begin[vertex];
      const int64_t end = adjacency.begin[vertex + 1];
      if (begin == end) continue;
      const int64_t share = ranks[vertex] * 17 / (20 * (end - begin));
      for (int64_t i = begin; i < end; ++i) next[adjacency.ends[i]] += share;
    }
    ranks = std::move(next);
  }
  return sum;
}

// ---- The flow ----

Tensor Column(const int64_t* numbers, int64_t count) {
  Tensor column(DType::kI64, {count});
  std::copy(numbers, numbers + count, column.mutable_data<int64_t>());
  return column;
}

void Feed(DeployedFlow* flow, const Graph& graph, int64_t roots) {
  const absl::Time deadline = absl::Now() + kLimit;
  std::vector<int64_t> nodes(static_cast<size_t>(roots));
  std::iota(nodes.begin(), nodes.end(), 0);
  for (int64_t at = 0; at < roots; at += kBatch) {
    OrDie(flow->Send("nodes", 0, {Column(nodes.data() + at, std::min(kBatch, roots - at))},
                     deadline));
  }
  const auto edges = static_cast<int64_t>(graph.from.size());
  for (int64_t at = 0; at < edges; at += kBatch) {
    const int64_t count = std::min(kBatch, edges - at);
    OrDie(flow->Send("edges", 0,
                     {Column(graph.from.data() + at, count), Column(graph.to.data() + at, count)},
                     deadline));
  }
  OrDie(flow->AwaitTaken("nodes", deadline));
  OrDie(flow->AwaitTaken("edges", deadline));
}

// Until workers have consumed all that was sent, and are done with it.
void AwaitConsumed(Session* session, const std::string& id) {
  const absl::Time deadline = absl::Now() + kLimit;
  for (bool all = false; !all && absl::Now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    all = true;
    const v1::FlowStatus status = OrDie(session->GetFlow(id));
    for (const auto& input : status.inputs()) {
      all = all && input.input().consumed_bytes() == input.input().taken_bytes();
    }
  }
}

int64_t ResultOf(DeployedFlow* flow) {
  for (const char* input : {"nodes", "edges"}) OrDie(flow->CloseInput(input));
  const RecordBatch out = OrDie(flow->Collect("out", 0, absl::Now() + kLimit));
  if (out.size() == 1) return out.columns[0].data<int64_t>()[0];
  std::fprintf(stderr, "%lld records came out, not one\n", static_cast<long long>(out.size()));
  std::exit(1);
}

template <class Work>
double Seconds(Work work) {
  const absl::Time begin = absl::Now();
  work();
  return absl::ToDoubleSeconds(absl::Now() - begin);
}

int Main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: flow_graph_bench CLUSTER FLOW.txt bfs|components|pagerank VERTICES EDGES "
                 "TRIPS\n");
    return 2;
  }
  const std::string_view kind = argv[3];
  const Graph graph = RandomGraph(std::atoll(argv[4]), std::atoll(argv[5]));
  const int64_t roots = kind == "bfs" ? 1 : graph.vertices;
  const std::shared_ptr<Session> session = SessionWith(argv[1]);
  const std::unique_ptr<DeployedFlow> flow = DeployFrom(session, argv[2]);
  const double fed = Seconds([&] {
    Feed(flow.get(), graph, roots);
    AwaitConsumed(session.get(), flow->id());
  });
  int64_t found = 0;
  const double computed = Seconds([&] { found = ResultOf(flow.get()); });
  int64_t expected = 0;
  const double plain = Seconds([&] {
    expected = kind == "bfs"          ? PlainBfs(graph)
               : kind == "components" ? PlainComponents(graph)
                                      : PlainPageRank(graph, std::atoi(argv[6]));
  });
  if (found != expected) {
    std::fprintf(stderr, "%s: the flow found %lld, the plain program %lld\n", argv[3],
                 static_cast<long long>(found), static_cast<long long>(expected));
    return 1;
  }
  std::printf("%.3f %.3f %.3f\n", fed, computed, plain);
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
