// Maps with the attribute `pipelined`: their loops (and, if asked for, branches) become vertices of
// the flow, so that every record goes its own way round them, and an epoch does not wait for the
// record with the most trips. Stateless; usable from any thread.
//
// A `while` becomes enter, concat, switch, map, feedback and leave in a loop of its own, an `if`
// switch, two maps and concat; `for` and `case` are made into these first, calls inlined, and
// recursion is a loop. What stands between is one map function each. The values that are needed
// further on are the columns of the record, which takes them along; so records need no partner to
// be found again, whatever their weights and origins, and the same come out as of the map, bit for
// bit. Values that need no parameter are computed where they are used. With `hold_bytes`, values of
// so many bytes that a loop does not change stay out of the round: those that it reads are held
// beside it (zip with `hold`), the others wait behind it (zip).
//
// A trip is then a step of the flow, some 40 us, and not one inside of a call: it pays where trips
// are long, or where few records make many and nobody should wait for them.
//
// A pfor, and a for that collects a value of each trip, stay whole in their function.
#ifndef WEIR_SERVER_FLOWS_PIPELINED_PIPELINED_H_
#define WEIR_SERVER_FLOWS_PIPELINED_PIPELINED_H_

#include "absl/status/status.h"
#include "common/flow/flow.h"

namespace weir {

// The map itself stays and has the last part of its function, so who reads it reads the same
// vertex; the others are named after it. REQUIRES: the flow is checked. Errors: InvalidArgument,
// with the place of the op: more loops in loops than a flow may have, or more in a record that goes
// round than a record may hold. The flow is checked again.
absl::Status BringOutPipelined(Flow* flow);

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_PIPELINED_PIPELINED_H_
