#include "worker/executor/workspace.h"

#include <utility>

#include "absl/hash/hash.h"
#include "common/base/status.h"

namespace weir {

Workspace::Workspace() : impl_(std::make_unique<Impl>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

void Workspace::LimitArenas(int64_t bytes) { impl_->LimitArenas(bytes); }
void Workspace::ReleaseArenas() { impl_->ReleaseArenas(); }

void Workspace::Impl::LimitArenas(int64_t bytes) {
  arena_limit_ = bytes;
  if (arena_bytes_ > bytes) ReleaseArenas();
}

void Workspace::Impl::ReleaseArenas() {
  arenas_.clear();
  arena_bytes_ = 0;
}

size_t Workspace::Impl::Hash(const RegionPlan& plan, const SymbolBindings& symbols,
                             absl::Span<const cpu::View> inputs) {
  size_t hash = absl::HashOf(&plan);
  for (const auto& [name, value] : symbols) hash = absl::HashOf(hash, value);
  for (const cpu::View& input : inputs) hash = absl::HashOf(hash, input.extents);
  return hash;
}

bool Workspace::Impl::Fits(const Entry& entry, const RegionPlan& plan,
                           const SymbolBindings& symbols, absl::Span<const cpu::View> inputs) {
  if (entry.plan != &plan || entry.busy || entry.activation->symbols() != symbols) return false;
  const std::vector<Layout>& externals = entry.activation->externals();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].extents != absl::MakeConstSpan(externals[i].extents) ||
        inputs[i].strides != absl::MakeConstSpan(externals[i].strides)) {
      return false;
    }
  }
  return true;
}

size_t Workspace::Impl::SlotForNewEntry() {
  if (entries_.size() >= kMaxEntries) {
    size_t oldest = entries_.size();
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i]->busy) continue;
      if (oldest == entries_.size() || entries_[i]->last_used < entries_[oldest]->last_used) {
        oldest = i;
      }
    }
    if (oldest < entries_.size()) {
      const auto known = by_hash_.find(entries_[oldest]->hash);
      std::erase(known->second, oldest);
      if (known->second.empty()) by_hash_.erase(known);
      return oldest;
    }
  }
  entries_.push_back(std::make_unique<Entry>());
  return entries_.size() - 1;
}

absl::Status Workspace::Impl::GrowArena(int depth, int64_t bytes) {
  if (static_cast<int>(arenas_.size()) <= depth) arenas_.resize(depth + 1);
  std::shared_ptr<Buffer>& arena = arenas_[depth];
  const int64_t have = arena == nullptr ? 0 : static_cast<int64_t>(arena->size());
  if (have >= bytes && arena != nullptr) return absl::OkStatus();
  const int64_t others = arena_bytes_ - have;
  if (bytes > arena_limit_ - others) {
    return absl::ResourceExhaustedError(
        StrCat("the run needs ", bytes, " bytes of memory beside ", others,
               " others, but one "
               "thread may take ",
               arena_limit_, " of the memory budget: give a larger one"));
  }
  arena = nullptr;
  WEIR_ASSIGN_OR_RETURN(arena, Buffer::TryAllocate(static_cast<size_t>(bytes)));
  arena_bytes_ += bytes - have;
  return absl::OkStatus();
}

absl::StatusOr<Workspace::Impl::Lease> Workspace::Impl::Acquire(const RegionPlan& plan,
                                                                const SymbolBindings& symbols,
                                                                absl::Span<const cpu::View> inputs,
                                                                int depth) {
  const size_t hash = Hash(plan, symbols, inputs);
  size_t found = entries_.size();
  if (const auto known = by_hash_.find(hash); known != by_hash_.end()) {
    for (size_t i : known->second) {
      if (Fits(*entries_[i], plan, symbols, inputs)) found = i;
    }
  }
  if (found == entries_.size()) {
    std::vector<Layout> layouts;
    for (const cpu::View& input : inputs) {
      layouts.push_back({input.dtype, Extents(input.extents.begin(), input.extents.end()),
                         Extents(input.strides.begin(), input.strides.end())});
    }
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Activation> activation,
                          Activation::Create(plan, symbols, std::move(layouts)));
    found = SlotForNewEntry();
    Entry& entry = *entries_[found];
    entry.plan = &plan;
    entry.hash = hash;
    by_hash_[hash].push_back(found);
    entry.externals.reserve(inputs.size());
    entry.activation = std::move(activation);
    entry.maker = uses_ + 1;
  }
  return Enter(found, depth);
}

absl::StatusOr<Workspace::Impl::Lease> Workspace::Impl::Enter(size_t index, int depth) {
  Entry& entry = *entries_[index];
  entry.last_used = ++uses_;
  WEIR_RETURN_IF_ERROR(GrowArena(depth, entry.activation->arena_bytes()));
  entry.busy = true;
  return Lease{entry.activation.get(), arenas_[depth]->data(), &entry.externals, index};
}

}  // namespace weir
