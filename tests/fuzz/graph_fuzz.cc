// The logical graph of a job, as workers receive it: what is read is the same once it was written
// and read again, and what Topology accepts can be tracked.
#include <utility>

#include "common/base/random.h"
#include "common/plan/progress_wire.h"
#include "common/timely/random_graph_testing.h"
#include "common/timely/tracker.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::LogicalGraph::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SeededRandom random(seed);
    seeds.push_back(ToWire(RandomTopology(&random)->graph()).SerializeAsString());
  }
  return seeds;
}

void Track(std::shared_ptr<const Topology> topology) {
  Tracker tracker(topology);
  for (int64_t l = 0; l < topology->num_locations(); ++l) {
    const Timestamp first = Timestamp::Minimum(topology->location(LocationId(l)).depth);
    tracker.Update(LocationId(l), first, 1);
  }
  tracker.Propagate();
  for (int64_t l = 0; l < topology->num_locations(); ++l) {
    const Timestamp first = Timestamp::Minimum(topology->location(LocationId(l)).depth);
    tracker.Update(LocationId(l), first, -1);
  }
  tracker.Propagate();
  Require(tracker.active() == 0 && tracker.Frontiers().empty(), "what goes leaves nothing");
}

}  // namespace

WEIR_FUZZ_TARGET(graph, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::LogicalGraph message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  auto graph = LogicalGraphFrom(message);
  if (!graph.ok()) return 0;
  const auto again = LogicalGraphFrom(ToWire(*graph));
  Require(again.ok() && ToString(*again) == ToString(*graph), "written and read, it is the same");
  auto topology = Topology::Of(*std::move(graph));
  if (topology.ok()) Track(*std::move(topology));
  return 0;
}

}  // namespace weir
