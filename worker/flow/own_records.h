// Records in memory of their own: a part of a larger batch keeps all of it from being freed, so who
// keeps records for long copies such parts. Stateless; usable from any thread.
#ifndef WEIR_WORKER_FLOW_OWN_RECORDS_H_
#define WEIR_WORKER_FLOW_OWN_RECORDS_H_

#include "common/flow/record_batch.h"

namespace weir {

// The same records; copied where they keep a quarter more than they are, or more, from being freed.
RecordBatch OwnRecords(RecordBatch batch);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_OWN_RECORDS_H_
