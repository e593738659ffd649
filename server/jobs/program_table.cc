#include "server/jobs/program_table.h"

#include <utility>

#include "common/base/status.h"

namespace weir {

ProgramEntry* ProgramTable::Add(std::string key) {
  const uint64_t id = next_id_++;
  ProgramEntry& entry = entries_[id];
  entry.id = id;
  entry.key = std::move(key);
  entry.last_used = ++uses_;
  by_key_[entry.key] = id;
  return &entry;
}

ProgramEntry* ProgramTable::FindByKey(std::string_view key) {
  auto it = by_key_.find(ToAbsl(key));
  if (it == by_key_.end()) return nullptr;
  ProgramEntry* entry = Find(it->second);
  entry->last_used = ++uses_;
  return entry;
}

ProgramEntry* ProgramTable::Find(uint64_t id) {
  auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

void ProgramTable::Remove(uint64_t id) {
  auto it = entries_.find(id);
  if (it == entries_.end()) return;
  by_key_.erase(it->second.key);
  entries_.erase(it);
}

std::vector<uint64_t> ProgramTable::Prune(int limit) {
  std::vector<uint64_t> removed;
  while (entries_.size() > static_cast<size_t>(limit)) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second.jobs > 0 || it->second.compiled == nullptr) continue;
      if (oldest == entries_.end() || it->second.last_used < oldest->second.last_used) oldest = it;
    }
    if (oldest == entries_.end()) break;
    removed.push_back(oldest->first);
    Remove(oldest->first);
  }
  return removed;
}

}  // namespace weir
