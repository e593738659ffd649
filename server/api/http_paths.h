// What the coordinator answers on its HTTP port: /healthz, /readyz, /metrics, /version. Stateless.
#ifndef WEIR_SERVER_API_HTTP_PATHS_H_
#define WEIR_SERVER_API_HTTP_PATHS_H_

#include <map>
#include <string>

#include "server/api/http_server.h"
#include "server/api/metrics.h"
#include "server/jobs/coordinator.h"

namespace weir {

// REQUIRES: coordinator and metrics outlive the server that serves the paths.
std::map<std::string, HttpServer::Handler> CoordinatorPaths(Coordinator* coordinator,
                                                            const ServerMetrics* metrics);

}  // namespace weir

#endif  // WEIR_SERVER_API_HTTP_PATHS_H_
