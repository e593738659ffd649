#include "server/progress/explain_progress.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/str_cat.h"
#include "common/timely/explain.h"
#include "server/progress/explain_turns.h"

namespace weir {
namespace {

constexpr size_t kMostLines = 100;  // of one explanation
// Workers that hear of the same thing do the same at about the same time.
constexpr absl::Duration kTogether = absl::Seconds(1);

bool IsSource(const JobProgress& job, VertexId vertex) {
  return job.topology().graph().vertex(vertex).inputs.empty();
}

void SortByAge(std::vector<Wait>* waits) {
  std::stable_sort(waits->begin(), waits->end(),
                   [](const Wait& a, const Wait& b) { return a.since < b.since; });
}

// Adds the shares of one pointstamp: as one, of those workers that are at work and took it up
// together.
void MergeShares(const JobProgress& job, std::vector<Wait> shares, std::vector<Wait>* waits) {
  const auto is_at_work = [&job](const Wait& share) {
    return job.workers().at(share.workers[0]).part == JobProgress::Part::kWorking;
  };
  SortByAge(&shares);
  const auto at_work = std::stable_partition(shares.begin(), shares.end(),
                                             [&](const Wait& share) { return !is_at_work(share); });
  waits->insert(waits->end(), shares.begin(), at_work);
  const size_t first = waits->size();
  for (auto next = at_work; next != shares.end(); ++next) {
    Wait& share = *next;
    if (waits->size() > first && share.since - waits->back().since < kTogether) {
      waits->back().count += share.count;
      waits->back().workers.push_back(share.workers[0]);
    } else {
      waits->push_back(std::move(share));
    }
  }
}

// Adds those who have a share of `wait`, which names nobody yet.
void AddShares(const JobProgress& job, Wait wait, std::vector<Wait>* waits) {
  const PortLocation& location = job.topology().location(wait.outstanding.location);
  if (location.kind == PortLocation::Kind::kInput) {
    for (const auto& [id, worker] : job.workers()) wait.workers.push_back(id);
    waits->push_back(std::move(wait));
    return;
  }
  const auto client = job.clients().find(location.port.vertex);
  if (client != job.clients().end()) wait.client = client->second;
  std::vector<Wait> shares;
  for (const auto& [id, worker] : job.workers()) {
    const MutableAntichain* const held = worker.receiver.HeldAt(wait.outstanding.location);
    if (held == nullptr) continue;
    for (const auto& [time, count, since] : held->counts()) {
      if (time != wait.outstanding.time) continue;
      Wait share = wait;
      share.workers = {id};
      share.count = count;
      share.since = since;
      shares.push_back(std::move(share));
    }
  }
  MergeShares(job, std::move(shares), waits);
}

absl::StatusOr<LocationId> Find(const JobProgress& job, std::string_view vertex, int input) {
  if (job.state() == JobProgress::State::kCancelled) {
    return absl::FailedPreconditionError(
        StrCat("job ", job.setup().job, " is cancelled; nothing of it is kept"));
  }
  const auto& vertices = job.topology().graph().vertices();
  for (size_t v = 0; v < vertices.size(); ++v) {
    if (vertices[v].name != vertex) continue;
    const int inputs = static_cast<int>(vertices[v].inputs.size());
    if (input >= 0 && input < inputs) {
      return job.topology().input(VertexId(static_cast<int64_t>(v)), input);
    }
    return absl::NotFoundError(StrCat("'", vertex, "' has no input ", input, "; it has ", inputs));
  }
  return absl::NotFoundError(StrCat("job ", job.setup().job, " has no vertex '", vertex, "'"));
}

std::string Ago(absl::Time since, absl::Time now) {
  return absl::FormatDuration(absl::Trunc(now - since, absl::Milliseconds(1)));
}

std::string Counted(size_t count, const char* one, const char* more) {
  return StrCat(count, " ", count == 1 ? one : more);
}

// "worker 'a'", and what is the matter with it.
std::string Named(const JobProgress::Worker& worker, absl::Time now) {
  const std::string name = StrCat("worker '", worker.name, "'");
  switch (worker.part) {
    case JobProgress::Part::kWorking:
      return name;
    case JobProgress::Part::kEnded:
      return StrCat(name, ", whose part ended ", Ago(worker.since, now), " ago,");
    case JobProgress::Part::kLost:
      return StrCat(name, ", lost ", Ago(worker.since, now), " ago,");
    case JobProgress::Part::kStopped:
      return StrCat(name, ", stopped ", Ago(worker.since, now), " ago,");
  }
  return name;
}

// "worker 'a'", "workers 'a', 'b'".
std::string NamesOf(const Wait& wait, const JobProgress& job, absl::Time now) {
  if (wait.workers.size() == 1) return Named(job.workers().at(wait.workers[0]), now);
  std::vector<std::string> names;
  for (const uint64_t id : wait.workers) {
    const JobProgress::Worker& worker = job.workers().at(id);
    names.push_back(
        StrCat("'", worker.name, "'",
               worker.part == JobProgress::Part::kWorking ? "" : " (its part is over)"));
  }
  std::sort(names.begin(), names.end());
  return "workers " + absl::StrJoin(names, ", ");
}

// Where frames are: as somebody knows, or at any worker.
std::string PlaceOf(const Wait& wait, const JobProgress& job, absl::Time now) {
  const std::string age = Ago(wait.since, now);
  const bool is_one = wait.count == 1;
  if (!wait.place.empty()) {
    return StrCat(is_one ? " has" : " have", " been there for ", age, ": ", wait.place);
  }
  return StrCat(is_one ? " is" : " are", " under way or in a kernel: with ",
                wait.workers.size() == 1 ? "" : "one of the ", NamesOf(wait, job, now), " for ",
                age);
}

std::string OfClient(const std::string& client, const JobProgress& job, absl::Time now) {
  if (client.empty()) return "";
  const std::optional<absl::Time> lost = job.ClientLostAt(client);
  return StrCat("; client '", client, "' feeds it",
                lost.has_value() ? StrCat(" and was lost ", Ago(*lost, now), " ago") : "");
}

void AppendWaits(const std::vector<Wait>& waits, const JobProgress& job, absl::Time now,
                 std::string* text) {
  for (size_t i = 0; i < std::min(waits.size(), kMostLines); ++i) {
    StrAppend(text, "  ", ToString(waits[i], job, now), "\n");
  }
  if (waits.size() > kMostLines) {
    StrAppend(text, "  and ", waits.size() - kMostLines, " more, all younger\n");
  }
}

// Who keeps records back meanwhile.
void AppendTurns(const std::vector<Turn>& turns, const JobProgress& job, absl::Time now,
                 std::string* text) {
  if (!turns.empty()) StrAppend(text, "meanwhile\n");
  for (size_t i = 0; i < std::min(turns.size(), kMostLines); ++i) {
    StrAppend(text, "  ", ToString(turns[i], job, now), "\n");
  }
  if (turns.size() > kMostLines) {
    StrAppend(text, "  and ", turns.size() - kMostLines, " more, all younger\n");
  }
}

void AppendWorkers(const JobProgress& job, absl::Time now, std::string* text) {
  for (const auto& [id, worker] : job.workers()) {
    if (worker.part != JobProgress::Part::kEnded && worker.part != JobProgress::Part::kLost)
      continue;
    StrAppend(text, Named(worker, now), " holds ",
              Counted(worker.receiver.held().size(), "pointstamp", "pointstamps"),
              " that nobody can release: ", worker.why.message(), "\n");
  }
  if (job.state() != JobProgress::State::kCancelling) return;
  for (const uint64_t id : job.not_stopped(now)) {
    StrAppend(text, "the cancel waits for ", Named(job.workers().at(id), now),
              " to stop or to be given up\n");
  }
}

}  // namespace

absl::StatusOr<std::vector<Wait>> WaitsAt(const JobProgress& job, std::string_view vertex,
                                          int input) {
  WEIR_ASSIGN_OR_RETURN(const LocationId port, Find(job, vertex, input));
  std::vector<Wait> waits;
  for (Holder& holder : HoldersOf(port, job.tracker(), job.reachability())) {
    AddShares(job,
              {std::move(holder.outstanding),
               holder.count,
               holder.since,
               {},
               "",
               std::move(holder.element)},
              &waits);
  }
  SortByAge(&waits);
  return waits;
}

std::vector<Wait> WaitsOf(const JobProgress& job) {
  std::vector<Wait> waits;
  if (job.state() == JobProgress::State::kCancelled) return waits;
  for (Root& root : RootsOf(job.tracker())) {
    AddShares(job, {std::move(root.outstanding), root.count, root.since, {}, "", std::nullopt},
              &waits);
  }
  SortByAge(&waits);
  return waits;
}

std::string ToString(const Wait& wait, const JobProgress& job, absl::Time now) {
  const PortLocation& location = job.topology().location(wait.outstanding.location);
  const std::string vertex =
      StrCat("'", job.topology().graph().vertex(location.port.vertex).name, "'");
  const std::string time = ToString(wait.outstanding.time);
  const std::string who =
      StrCat(NamesOf(wait, job, now), wait.workers.size() == 1 ? " has" : " have", " held ");
  const std::string age = Ago(wait.since, now);
  const std::string detail = wait.detail.empty() ? "" : "; " + wait.detail;
  const size_t count = static_cast<size_t>(wait.count);
  const int port = location.port.number;
  switch (location.kind) {
    case PortLocation::Kind::kInput:
      return StrCat(Counted(count, "frame", "frames"), " of ", time, " for input ", port, " of ",
                    vertex, PlaceOf(wait, job, now), detail);
    case PortLocation::Kind::kRequest:
      return StrCat(vertex, " waits to be served at ", time, ": ", who,
                    Counted(count, "request", "requests"), " at input ", port, " for ", age,
                    detail);
    case PortLocation::Kind::kOutput:
      return StrCat(IsSource(job, location.port.vertex) ? "source " : "", vertex,
                    IsSource(job, location.port.vertex) ? " is open at " : " may still send at ",
                    time, ": ", who, Counted(count, "capability", "capabilities"), " at output ",
                    port, " for ", age, OfClient(wait.client, job, now), detail);
  }
  return "";
}

absl::StatusOr<std::string> ExplainFrontier(const JobProgress& job, std::string_view vertex,
                                            int input, const std::vector<Wait>& waits,
                                            absl::Time now) {
  WEIR_ASSIGN_OR_RETURN(const LocationId port, Find(job, vertex, input));
  const Frontier& frontier = job.tracker().frontier(port);
  if (frontier.empty()) {
    return StrCat("input ", input, " of '", vertex, "' is finished: nothing can come any more\n");
  }
  std::string text = StrCat("the frontier of input ", input, " of '", vertex, "' is ",
                            ToString(frontier), ", held back by\n");
  AppendWaits(waits, job, now, &text);
  std::vector<Turn> turns = TurnsOf(job, port);
  std::erase_if(turns, [&](const Turn& turn) {  // those that are named already
    return std::any_of(waits.begin(), waits.end(), [&](const Wait& wait) {
      return wait.outstanding.location == turn.request.location &&
             wait.outstanding.time == turn.request.time;
    });
  });
  AppendTurns(turns, job, now, &text);
  return text;
}

std::string Dump(const JobProgress& job, const std::vector<Wait>& waits, absl::Time now) {
  std::string text =
      StrCat("job ", job.setup().job, ", generation ", job.setup().generation, ", is ",
             NameOf(job.state()), "; it began ", Ago(job.began(), now), " ago; ",
             Counted(job.working().size(), "worker takes part", "workers take part"), "\n");
  if (!job.status().ok()) StrAppend(&text, "what was wrong first: ", job.status().message(), "\n");
  AppendWorkers(job, now, &text);
  if (job.state() == JobProgress::State::kCancelling) return text;
  if (!waits.empty()) StrAppend(&text, "it waits for\n");
  AppendWaits(waits, job, now, &text);
  AppendTurns(TurnsOf(job, std::nullopt), job, now, &text);
  return text;
}

}  // namespace weir
