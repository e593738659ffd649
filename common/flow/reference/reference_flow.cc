#include "common/flow/reference_flow.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "common/base/status.h"
#include "common/flow/reference/record_bag.h"
#include "common/flow/reference/reference_vertex.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/text.h"
#include "common/timely/topology.h"

namespace weir {
namespace {

class ReferenceExecutor {
 public:
  ReferenceExecutor(const Flow& flow, std::shared_ptr<const Topology> topology,
                    const ReferenceFlowOptions& options)
      : flow_(flow),
        topology_(std::move(topology)),
        options_(options),
        waiting_([this](const Place& a, const Place& b) {
          return topology_->ComesBefore(a.last_input, a.time, b.last_input, b.time);
        }) {
    for (const FlowVertex& vertex : flow.vertices) vertices_.push_back(MakeOne(vertex));
  }

  absl::StatusOr<ReferenceFlowResult> Run(const FlowInputs& inputs) {
    for (const auto& [name, parts] : inputs) WEIR_RETURN_IF_ERROR(Feed(name, parts));
    WEIR_RETURN_IF_ERROR(ReadFiles());
    for (int64_t steps = 0; !waiting_.empty(); ++steps) {
      auto next = waiting_.extract(waiting_.begin());
      if (steps >= options_.max_steps) return TooManySteps(next.key());
      WEIR_RETURN_IF_ERROR(Step(next.key(), std::move(next.mapped())));
    }
    for (auto& [name, epochs] : bags_) {
      const FlowVertex& vertex = flow_.vertex(flow_.FindVertex(name));
      for (const auto& [epoch, bag] : epochs) {
        RecordBatch batch = Consolidated(BatchOf(bag, vertex.input_types[0]));
        if (!batch.empty()) result_.outputs[name].emplace(epoch, std::move(batch));
      }
    }
    return std::move(result_);
  }

 private:
  // A vertex and a time, by the input to which records come last.
  struct Place {
    LocationId last_input;
    Timestamp time;
  };

  std::unique_ptr<ReferenceVertex> MakeOne(const FlowVertex& vertex) const {
    auto made = MakeReferenceRecords(flow_, vertex);
    if (made == nullptr) made = MakeReferenceTimes(vertex);
    if (made == nullptr) made = MakeReferenceGroups(flow_, vertex);
    if (made == nullptr) made = MakeReferenceReduce(flow_, vertex);
    if (made == nullptr) made = MakeReferenceJoin(vertex);
    if (made == nullptr) made = MakeReferenceVariable(flow_, vertex);
    if (made == nullptr) made = MakeReferenceOrigins(vertex);
    return made;  // none of what records come from or go to
  }

  absl::Status Feed(const std::string& name, const std::vector<EpochRecords>& parts) {
    const VertexId id = flow_.FindVertex(name);
    if (!id.valid() || flow_.vertex(id).kind != "input") {
      return InvalidArgument("'", name, "' is no input of the flow");
    }
    for (const EpochRecords& part : parts) {
      WEIR_RETURN_IF_ERROR(CheckBatch(part.batch, flow_.vertex(id).output_types[0],
                                      StrCat("'", name, "', epoch ", part.epoch)));
      if (part.epoch < 0) return InvalidArgument("'", name, "': epoch ", part.epoch);
      Deliver({id, 0}, Timestamp({part.epoch}), BagOf(part.batch));
    }
    return absl::OkStatus();
  }

  absl::Status ReadFiles() {
    for (size_t v = 0; v < flow_.vertices.size(); ++v) {
      const FlowVertex& vertex = flow_.vertices[v];
      if (vertex.kind != "read_files") continue;
      const auto epochs = ReadReferenceFiles(vertex);
      if (!epochs.ok())
        return Annotate(epochs.status(), StrCat("'", vertex.name, "' (read_files)"));
      for (const auto& [epoch, records] : *epochs) {
        Deliver({VertexId(static_cast<int64_t>(v)), 0}, Timestamp({epoch}), records);
      }
    }
    return absl::OkStatus();
  }

  void Deliver(FlowPort from, const Timestamp& time, const RecordBag& records) {
    if (records.empty()) return;
    for (const Hop& hop : topology_->hops(topology_->output(from.vertex, from.output))) {
      const Port& to = topology_->location(hop.to).port;
      const size_t inputs = flow_.vertex(to.vertex).inputs.size();
      LocationId last = topology_->input(to.vertex, 0);
      for (size_t i = 1; i < inputs; ++i) {
        const LocationId other = topology_->input(to.vertex, static_cast<int>(i));
        if (topology_->ComesBefore(last, time, other, time)) last = other;
      }
      std::vector<RecordBag>& bags = waiting_[{last, time}];
      bags.resize(inputs);
      bags[to.number].AddAll(records);
    }
  }

  absl::Status Step(const Place& place, std::vector<RecordBag> inputs) {
    const bool nothing =
        std::all_of(inputs.begin(), inputs.end(), [](const RecordBag& bag) { return bag.empty(); });
    if (nothing) return absl::OkStatus();
    const VertexId id = topology_->location(place.last_input).port.vertex;
    const FlowVertex& vertex = flow_.vertex(id);
    const std::string where =
        StrCat("'", vertex.name, "' (", vertex.kind, ") at ", ToString(place.time));
    if (vertices_[id.value()] == nullptr) {
      const int64_t epoch = place.time.epoch();
      if (vertex.kind == "output") bags_[vertex.name][epoch].AddAll(inputs[0]);
      if (vertex.kind != "write_files") return absl::OkStatus();
      return Annotate(
          WriteReferenceFiles(vertex, epoch, inputs[0], options_.workers, &result_.files), where);
    }
    ReferenceStep step{.time = place.time, .inputs = std::move(inputs)};
    WEIR_RETURN_IF_ERROR(Annotate(vertices_[id.value()]->Run(&step), where));
    if (step.dropped > 0) result_.dropped[vertex.name] += step.dropped;
    for (const ReferenceStep::Sent& sent : step.sent) {
      Deliver({id, sent.output}, sent.time, sent.records);
    }
    return absl::OkStatus();
  }

  absl::Status TooManySteps(const Place& place) const {
    const FlowVertex& vertex = flow_.vertex(topology_->location(place.last_input).port.vertex);
    const std::string where = vertex.scope == LogicalGraph::kRoot
                                  ? "outside of loops"
                                  : "in loop '" + flow_.loops[vertex.scope.value() - 1].name + "'";
    return absl::ResourceExhaustedError(
        StrCat("the flow has made ", options_.max_steps, " steps and is not done; the next is '",
               vertex.name, "' (", vertex.kind, ") ", where, " at ", ToString(place.time)));
  }

  const Flow& flow_;
  const std::shared_ptr<const Topology> topology_;
  const ReferenceFlowOptions& options_;
  std::vector<std::unique_ptr<ReferenceVertex>> vertices_;
  // What has come to each input.
  std::map<Place, std::vector<RecordBag>, std::function<bool(const Place&, const Place&)>> waiting_;
  std::map<std::string, std::map<int64_t, RecordBag>> bags_;  // of outputs
  ReferenceFlowResult result_;
};

}  // namespace

absl::StatusOr<ReferenceFlowResult> RunReferenceFlow(const Flow& flow, const FlowInputs& inputs,
                                                     const ReferenceFlowOptions& options) {
  WEIR_ASSIGN_OR_RETURN(std::shared_ptr<const Topology> topology, Topology::Of(GraphOf(flow)));
  return ReferenceExecutor(flow, std::move(topology), options).Run(inputs);
}

std::string ToString(const FlowOutputs& outputs) {
  std::string text;
  for (const auto& [name, epochs] : outputs) {
    for (const auto& [epoch, batch] : epochs) {
      const RecordBatch records = Consolidated(batch);
      for (int64_t row = 0; row < records.size(); ++row) {
        StrAppend(&text, name, " ", epoch, ":");
        for (const Tensor& column : records.columns) {
          StrAppend(&text, " ", PrintTensor(column.Row(row)));
        }
        StrAppend(&text, " of ", records.origin(row), " x ", records.weight(row), "\n");
      }
    }
  }
  return text;
}

}  // namespace weir
