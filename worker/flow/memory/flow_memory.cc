#include "worker/flow/memory/flow_memory.h"

#include "common/base/log.h"
#include "common/base/status.h"
#include "worker/flow/memory/memory_limit.h"

namespace weir {
namespace {

thread_local FlowShare* current_share = nullptr;

}  // namespace

absl::StatusOr<std::shared_ptr<FlowMemory>> FlowMemory::Make(const Options& options) {
  absl::StatusOr<std::shared_ptr<SpillDirectory>> directory =
      SpillDirectory::Open(options.spill_directory, options.spill_limit);
  if (!directory.ok()) {
    if (!options.spill_directory.empty()) return directory.status();
    Log(LogLevel::kWarning, "flows have no disk for what is beyond --flow-memory",
        {{"why", directory.status()}});
  }
  const int64_t budget = options.budget > 0 ? options.budget : MemoryLimit() / 4;
  return std::shared_ptr<FlowMemory>(new FlowMemory(budget, std::move(directory)));
}

std::shared_ptr<FlowShare> FlowMemory::AddFlow() {
  return std::make_shared<FlowShare>(shared_from_this());
}

FlowShare::FlowShare(std::shared_ptr<FlowMemory> memory)
    : memory_(std::move(memory)), log_(memory_->directory_) {
  memory_->flows_.fetch_add(1, std::memory_order_relaxed);
}

FlowShare::~FlowShare() { memory_->flows_.fetch_sub(1, std::memory_order_relaxed); }

absl::Status FlowShare::CheckDirectory() const {
  if (memory_->directory_ != nullptr) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      StrCat("the flow keeps ", kept_bytes(), " bytes, flows together ", memory_->kept_bytes(),
             " of the ", budget(), " of --flow-memory, and there is no disk for more (",
             ToStd(memory_->no_directory_.message()), "): give --spill-directory or more memory"));
}

absl::StatusOr<SpilledRecords> FlowShare::Spill(const RecordBatch& batch) {
  WEIR_RETURN_IF_ERROR(CheckDirectory());
  return log_.Write(batch);
}

absl::StatusOr<std::unique_ptr<SpillFile>> FlowShare::MakeTable(int64_t bytes) {
  WEIR_RETURN_IF_ERROR(CheckDirectory());
  SpillDirectory& directory = *memory_->directory_;
  WEIR_RETURN_IF_ERROR(directory.Reserve(bytes));
  auto table = SpillFile::Make(memory_->directory_, bytes, SpillFile::Use::kTable);
  if (!table.ok()) {
    directory.Release(bytes);
    return table.status();
  }
  table_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return table;
}

void FlowShare::FreeTable(std::unique_ptr<SpillFile> table) {
  memory_->directory_->Release(table->size());
  table_bytes_.fetch_sub(table->size(), std::memory_order_relaxed);
}

FlowShare* FlowShare::Current() { return current_share; }

FlowShare::Scope::Scope(FlowShare* share) : before_(std::exchange(current_share, share)) {}

FlowShare::Scope::~Scope() { current_share = before_; }

void MemoryCharge::Set(int64_t bytes) {
  if (bytes == bytes_) return;
  if (share_ == nullptr && FlowShare::Current() != nullptr) {
    share_ = FlowShare::Current()->shared_from_this();
  }
  if (share_ != nullptr) share_->Charge(bytes - bytes_);
  bytes_ = bytes;
}

}  // namespace weir
