#include "server/jobs/worker_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"

namespace weir {

void WorkerTable::Connect(uint64_t id, absl::Time now) {
  WorkerEntry& entry = entries_[id];
  entry.id = id;
  entry.last_heard = now;
  entry.last_probed = now;
}

absl::Status WorkerTable::Register(uint64_t id, const v1::Register& hello) {
  WorkerEntry* entry = Find(id);
  if (entry == nullptr) return absl::NotFoundError("the connection is over");
  if (hello.name().empty() || hello.name().size() > limits_.max_name_bytes) {
    return InvalidArgument("a worker's name has 1 to ", limits_.max_name_bytes, " characters");
  }
  if (entry->registered()) return InvalidArgument("a connection registers once");
  for (const auto& [other_id, other] : entries_) {
    if (other_id == id || !other.registered() || other.name() != hello.name()) continue;
    return absl::AlreadyExistsError(
        StrCat("another worker is named '", hello.name(), "': give this one a name of its own"));
  }
  entry->hello = hello;
  entry->state = v1::Worker::READY;
  std::erase_if(lost_, [&](const WorkerEntry& lost) { return lost.name() == hello.name(); });
  return absl::OkStatus();
}

bool WorkerTable::Disconnect(uint64_t id, absl::Time now) {
  auto found = entries_.extract(id);
  if (found.empty() || found.mapped().state != v1::Worker::READY) return false;
  WorkerEntry& entry = found.mapped();
  entry.state = v1::Worker::LOST;
  entry.programs.clear();
  entry.blobs.clear();
  lost_.push_back(std::move(entry));
  if (lost_.size() > static_cast<size_t>(limits_.max_lost_workers)) lost_.erase(lost_.begin());
  return true;
}

WorkerEntry* WorkerTable::Find(uint64_t id) {
  auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

std::vector<const WorkerEntry*> WorkerTable::LargestClass() const {
  std::map<std::string, std::vector<const WorkerEntry*>> classes;
  for (const auto& [id, entry] : entries_) {
    if (entry.state == v1::Worker::READY) classes[entry.hello.numerics_class()].push_back(&entry);
  }
  std::vector<const WorkerEntry*> largest;
  for (auto& [name, members] : classes) {
    if (members.size() > largest.size()) largest = std::move(members);
  }
  return largest;
}

WorkerTable::Choice WorkerTable::Choose(uint32_t wanted,
                                        const std::vector<uint64_t>& preferred) const {
  std::vector<const WorkerEntry*> ready = LargestClass();
  Choice choice;
  if (ready.empty()) {
    choice.waits_for = "a worker: none is ready";
    return choice;
  }
  if (wanted > ready.size()) {
    std::vector<std::string> names;
    for (const WorkerEntry* entry : ready) names.push_back(entry->name());
    choice.waits_for =
        StrCat(wanted, " workers of one numerics class: ", ready.size(),
               ready.size() == 1 ? " is ready (" : " are ready (", absl::StrJoin(names, ", "), ")");
    return choice;
  }
  const size_t count = wanted == 0 ? ready.size() : wanted;
  const auto place = [&](uint64_t id) {
    return std::find(preferred.begin(), preferred.end(), id) - preferred.begin();
  };
  if (count < ready.size()) {
    std::stable_sort(ready.begin(), ready.end(), [&](const WorkerEntry* a, const WorkerEntry* b) {
      return std::make_pair(place(a->id), a->runs) < std::make_pair(place(b->id), b->runs);
    });
    ready.resize(count);
  }
  for (const WorkerEntry* entry : ready) choice.workers.push_back(entry->id);
  std::sort(choice.workers.begin(), choice.workers.end(), [&](uint64_t a, uint64_t b) {
    return std::make_pair(place(a), a) < std::make_pair(place(b), b);
  });
  return choice;
}

int WorkerTable::CountReady() const {
  return static_cast<int>(std::count_if(entries_.begin(), entries_.end(), [](const auto& item) {
    return item.second.state == v1::Worker::READY;
  }));
}

std::vector<v1::Worker> WorkerTable::List(absl::Time now) const {
  std::vector<v1::Worker> workers;
  auto add = [&](const WorkerEntry& entry) {
    if (!entry.registered()) return;
    v1::Worker& worker = workers.emplace_back();
    worker.set_id(entry.id);
    worker.set_name(entry.name());
    worker.set_state(entry.state);
    worker.set_data_address(entry.hello.data_address());
    worker.set_threads(entry.hello.threads());
    worker.set_heartbeat_age_ms(absl::ToInt64Milliseconds(now - entry.last_heard));
    worker.set_resident_bytes(entry.resident_bytes);
    worker.set_numerics_class(entry.hello.numerics_class());
    worker.set_incarnation(entry.hello.incarnation());
  };
  for (const auto& [id, entry] : entries_) add(entry);
  for (const WorkerEntry& entry : lost_) add(entry);
  return workers;
}

}  // namespace weir
