// The journal: what the coordinator must still know after a restart. Thread-safe.
//
// Put returns at once; entries become durable in the order of Put, several at a time.
//
//   journal->Put({.job = job});
//   journal->WhenDurable([](const absl::Status& status) { Answer(status); });
#ifndef WEIR_SERVER_JOURNAL_JOURNAL_H_
#define WEIR_SERVER_JOURNAL_JOURNAL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weir/v1/service.pb.h"

namespace weir {

struct JournalEntry {
  v1::Job job;              // the latest entry of a job id counts
  std::string spec_digest;  // SpecDigest::ToString
};

// Called when what was put is durable, or cannot be made so; on a thread of the journal, or on the
// caller's stack.
using OnDurable = std::function<void(const absl::Status& status)>;

class Journal {
 public:
  virtual ~Journal() = default;
  virtual void Put(JournalEntry entry) = 0;
  // Calls `done` when all that was put before is durable.
  virtual void WhenDurable(OnDurable done) = 0;
  // Every job, in the order of the first Put.
  virtual absl::StatusOr<std::vector<JournalEntry>> Load() = 0;
};

// Keeps nothing beyond the process.
std::unique_ptr<Journal> MakeMemoryJournal();

// Keeps jobs in `directory`/journal.db, which is made if it is missing; of jobs that have ended,
// the latest `max_jobs`. Returns: an error that names the file, also when another coordinator has
// it open.
absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& directory, int max_jobs);

}  // namespace weir

#endif  // WEIR_SERVER_JOURNAL_JOURNAL_H_
