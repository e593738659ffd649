#include "common/timely/batch_receiver.h"

#include "common/base/str_cat.h"

namespace weir {

absl::Status BatchReceiver::Accept(const ProgressBatch& batch, absl::Time now) {
  if (batch.sequence < next_) {
    return absl::AlreadyExistsError(
        StrCat("progress batch ", batch.sequence, " came again; ", next_, " is due"));
  }
  if (batch.sequence > next_) {
    return absl::DataLossError(StrCat("progress batch ", batch.sequence, " came while ", next_,
                                      " is due: one was lost or overtaken"));
  }
  WEIR_RETURN_IF_ERROR(
      Annotate(ledger_.Apply(batch.changes, now), StrCat("progress batch ", batch.sequence)));
  ++next_;
  return absl::OkStatus();
}

}  // namespace weir
