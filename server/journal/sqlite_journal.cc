#include <sqlite3.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/base/status.h"
#include "server/journal/journal.h"

namespace weir {
namespace {

// Entries that come within this time share one commit.
constexpr auto kGroup = std::chrono::milliseconds(4);

constexpr char kSchema[] =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "CREATE TABLE IF NOT EXISTS jobs ("
    "  sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  id TEXT NOT NULL UNIQUE,"
    "  submission_id TEXT NOT NULL,"
    "  spec_digest TEXT NOT NULL,"
    "  program_name TEXT NOT NULL,"
    "  state TEXT NOT NULL,"
    "  failure TEXT NOT NULL,"
    "  created_unix_ms INTEGER NOT NULL,"
    "  ended_unix_ms INTEGER NOT NULL,"
    "  job BLOB NOT NULL);"
    "PRAGMA user_version=1;";

constexpr char kPut[] =
    "INSERT INTO jobs(id, submission_id, spec_digest, program_name, state, failure,"
    "                 created_unix_ms, ended_unix_ms, job)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    " ON CONFLICT(id) DO UPDATE SET state = ?5, failure = ?6, ended_unix_ms = ?8, job = ?9";

constexpr char kPrune[] =
    "DELETE FROM jobs WHERE ended_unix_ms > 0 AND sequence <="
    " (SELECT MAX(sequence) FROM jobs) - ?1";

constexpr char kLoad[] = "SELECT job, spec_digest FROM jobs ORDER BY sequence";

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class SqliteJournal : public Journal {
 public:
  SqliteJournal(std::string path, Database database, int max_jobs)
      : path_(std::move(path)), max_jobs_(max_jobs), database_(std::move(database)) {}

  ~SqliteJournal() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Begin() {
    WEIR_ASSIGN_OR_RETURN(put_, Prepare(kPut));
    WEIR_ASSIGN_OR_RETURN(prune_, Prepare(kPrune));
    thread_ = std::thread([this] { Run(); });
    return absl::OkStatus();
  }

  void Put(JournalEntry entry) override {
    std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    ++put_count_;
    changed_.notify_all();
  }

  void WhenDurable(OnDurable done) override {
    {
      std::lock_guard lock(mutex_);
      if (durable_ < put_count_) {
        waiting_.push_back({put_count_, std::move(done)});
        return;
      }
    }
    done(absl::OkStatus());
  }

  absl::StatusOr<std::vector<JournalEntry>> Load() override {
    std::lock_guard lock(database_mutex_);
    WEIR_ASSIGN_OR_RETURN(Statement load, Prepare(kLoad));
    std::vector<JournalEntry> entries;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(load.get())) == SQLITE_ROW) {
      JournalEntry entry;
      if (!entry.job.ParseFromArray(sqlite3_column_blob(load.get(), 0),
                                    sqlite3_column_bytes(load.get(), 0))) {
        return absl::DataLossError(StrCat(path_, ": a job cannot be read"));
      }
      entry.spec_digest = reinterpret_cast<const char*>(sqlite3_column_text(load.get(), 1));
      entries.push_back(std::move(entry));
    }
    if (result != SQLITE_DONE) return Error("cannot be read");
    return entries;
  }

 private:
  struct Waiting {
    uint64_t count;  // of entries that must be durable
    OnDurable done;
  };

  absl::Status Error(std::string_view what) const {
    return absl::UnavailableError(
        StrCat("journal ", path_, " ", what, ": ", sqlite3_errmsg(database_.get())));
  }

  absl::StatusOr<Statement> Prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
      return Error("cannot be used");
    }
    return Statement(statement);
  }

  void Run() {
    while (true) {
      std::deque<JournalEntry> entries;
      uint64_t count = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
        if (entries_.empty()) return;
        // Gives others the time to come along.
        changed_.wait_for(lock, kGroup, [this] { return stopping_; });
        entries.swap(entries_);
        count = put_count_;
      }
      const absl::Status status = Write(entries);
      if (!status.ok()) Log(LogLevel::kError, "the journal fails", {{"why", status}});
      std::vector<OnDurable> ready;
      {
        std::lock_guard lock(mutex_);
        durable_ = count;
        while (!waiting_.empty() && waiting_.front().count <= count) {
          ready.push_back(std::move(waiting_.front().done));
          waiting_.pop_front();
        }
      }
      for (OnDurable& done : ready) done(status);
    }
  }

  absl::Status Write(const std::deque<JournalEntry>& entries) {
    std::lock_guard lock(database_mutex_);
    if (sqlite3_exec(database_.get(), "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return Error("cannot be written");
    }
    absl::Status status;
    for (const JournalEntry& entry : entries) {
      status = WriteOne(entry);
      if (!status.ok()) break;
    }
    if (status.ok()) status = Prune();
    const char* end = status.ok() ? "COMMIT" : "ROLLBACK";
    if (sqlite3_exec(database_.get(), end, nullptr, nullptr, nullptr) != SQLITE_OK && status.ok()) {
      status = Error("cannot be written");
      sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    return status;
  }

  absl::Status WriteOne(const JournalEntry& entry) {
    sqlite3_stmt* put = put_.get();
    const v1::Job& job = entry.job;
    const std::string state = v1::Job::State_Name(job.state());
    const std::string bytes = job.SerializeAsString();
    auto text = [put](int index, const std::string& value) {
      sqlite3_bind_text(put, index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
    };
    text(1, job.id());
    text(2, job.submission_id());
    text(3, entry.spec_digest);
    text(4, job.program_name());
    text(5, state);
    text(6, job.failure().message());
    sqlite3_bind_int64(put, 7, job.created_unix_ms());
    sqlite3_bind_int64(put, 8, job.ended_unix_ms());
    sqlite3_bind_blob(put, 9, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    const int result = sqlite3_step(put);
    sqlite3_reset(put);
    sqlite3_clear_bindings(put);
    return result == SQLITE_DONE ? absl::OkStatus() : Error("cannot be written");
  }

  absl::Status Prune() {
    sqlite3_bind_int(prune_.get(), 1, max_jobs_);
    const int result = sqlite3_step(prune_.get());
    sqlite3_reset(prune_.get());
    return result == SQLITE_DONE ? absl::OkStatus() : Error("cannot be written");
  }

  const std::string path_;
  const int max_jobs_;

  std::mutex database_mutex_;  // guards the three below
  const Database database_;
  Statement put_;
  Statement prune_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<JournalEntry> entries_;
  uint64_t put_count_ = 0;
  uint64_t durable_ = 0;  // of those put, written or given up
  std::deque<Waiting> waiting_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& directory, int max_jobs) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return absl::UnavailableError(
        StrCat("cannot make the data directory ", directory, ": ", error.message()));
  }
  const std::string path = (std::filesystem::path(directory) / "journal.db").string();
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  Database database(raw);
  auto failed = [&] {
    return absl::UnavailableError(StrCat("cannot open the journal ", path, ": ",
                                         raw == nullptr ? "out of memory" : sqlite3_errmsg(raw),
                                         " (another coordinator may be using the directory)"));
  };
  if (opened != SQLITE_OK) return failed();
  // Nobody else may write it while this process lives.
  if (sqlite3_exec(raw, "PRAGMA locking_mode=EXCLUSIVE", nullptr, nullptr, nullptr) != SQLITE_OK ||
      sqlite3_exec(raw, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failed();
  }
  auto journal = std::make_unique<SqliteJournal>(path, std::move(database), max_jobs);
  WEIR_RETURN_IF_ERROR(journal->Begin());
  return journal;
}

}  // namespace weir
