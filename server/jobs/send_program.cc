#include "server/jobs/send_program.h"

#include <utility>

#include "common/plan/frames.h"

namespace weir {

void SendProgram(const ProgramEntry& program, WorkerEntry* worker, CoordinatorOutbox* outbox) {
  if (!worker->programs.try_emplace(program.id, WorkerEntry::Load::kSent).second) return;
  const PartitionedPlan& plan = program.compiled->plan;
  v1::CoordinatorMessage message;
  v1::LoadProgram* load = message.mutable_load_program();
  load->set_program_id(program.id);
  *load->mutable_plan() = plan.plan;
  std::vector<Tensor> payloads;
  for (const auto& [name, tensor] : plan.blobs) {
    if (!worker->blobs.insert(name).second) continue;
    load->add_blobs(name);
    *load->add_blob_headers() = HeaderOf(tensor);
    payloads.push_back(tensor);
  }
  outbox->SendToWorker(worker->id, message, std::move(payloads));
}

v1::Peer PeerOf(const WorkerEntry& worker) {
  v1::Peer peer;
  peer.set_worker_id(worker.id);
  peer.set_incarnation(worker.hello.incarnation());
  peer.set_data_address(worker.hello.data_address());
  peer.set_name(worker.name());
  return peer;
}

}  // namespace weir
