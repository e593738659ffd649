// What a run prints, between worker and coordinator. Stateless; usable from any thread.
#ifndef WEIR_COMMON_PLAN_PRINTED_H_
#define WEIR_COMMON_PLAN_PRINTED_H_

#include "common/base/printed_lines.h"
#include "weir/v1/worker.pb.h"

namespace weir {

void AddPrinted(const PrintedLines& lines, v1::RunFinished* finished);
void TakePrinted(const v1::RunFinished& finished, PrintedLines* lines);

}  // namespace weir

#endif  // WEIR_COMMON_PLAN_PRINTED_H_
