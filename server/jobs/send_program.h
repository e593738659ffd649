// Brings programs to workers. Stateless; called by the state machine that owns the tables.
#ifndef WEIR_SERVER_JOBS_SEND_PROGRAM_H_
#define WEIR_SERVER_JOBS_SEND_PROGRAM_H_

#include "server/jobs/coordinator_outbox.h"
#include "server/jobs/program_table.h"
#include "server/jobs/worker_table.h"

namespace weir {

// Sends a compiled program to a worker that has not got it; of its constants, those that the worker
// lacks. The worker answers with ProgramLoaded.
void SendProgram(const ProgramEntry& program, WorkerEntry* worker, CoordinatorOutbox* outbox);

// As others reach it.
v1::Peer PeerOf(const WorkerEntry& worker);

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_SEND_PROGRAM_H_
