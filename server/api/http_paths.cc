#include "server/api/http_paths.h"

#include "absl/strings/str_join.h"
#include "common/base/str_cat.h"
#include "common/base/version.h"

namespace weir {
namespace {

HttpAnswer Ready(Coordinator* coordinator) {
  const CoordinatorStats stats = coordinator->Stats();
  std::vector<std::string> reasons;
  if (coordinator->draining()) reasons.push_back("\"the coordinator is shutting down\"");
  if (stats.workers_ready == 0) reasons.push_back("\"no worker is ready\"");
  HttpAnswer answer;
  answer.status = reasons.empty() ? 200 : 503;
  answer.body = StrCat("{\"ready\":", reasons.empty() ? "true" : "false", ",\"reasons\":[",
                       absl::StrJoin(reasons, ","), "],\"workers_ready\":", stats.workers_ready,
                       ",\"jobs_running\":", stats.jobs_running,
                       ",\"jobs_queued\":", stats.jobs_queued, "}\n");
  return answer;
}

}  // namespace

std::map<std::string, HttpServer::Handler> CoordinatorPaths(Coordinator* coordinator,
                                                            const ServerMetrics* metrics) {
  return {
      {"/healthz", [] { return HttpAnswer{.body = "{\"live\":true}\n"}; }},
      {"/readyz", [coordinator] { return Ready(coordinator); }},
      {"/metrics",
       [metrics] {
         return HttpAnswer{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = metrics->Text()};
       }},
      {"/version",
       [] {
         return HttpAnswer{.body = StrCat("{\"version\":\"", kVersion, "\",\"git_revision\":\"",
                                          kGitRevision, "\"}\n")};
       }},
  };
}

}  // namespace weir
