// What clients in benchmarks share: a cluster, a flow from a file, and an end where something goes
// wrong.
#ifndef WEIR_TESTS_BENCH_BENCH_SESSION_H_
#define WEIR_TESTS_BENCH_BENCH_SESSION_H_

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/api/deployed_flow.h"
#include "client/api/remote_session.h"
#include "client/embedded/embedded_cluster.h"

namespace weir {

inline void OrDie(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <class T>
T OrDie(absl::StatusOr<T> value) {
  OrDie(value.status());
  return *std::move(value);
}

// A session with the coordinator at HOST:PORT, or with so many workers in this process.
inline std::shared_ptr<Session> SessionWith(const std::string& cluster) {
  if (cluster.find(':') != std::string::npos) return OrDie(ConnectRemote({.address = cluster}));
  return OrDie(StartEmbedded({.workers = std::atoi(cluster.c_str())}));
}

// Deploys the flow in a file and attaches to all of its inputs and outputs.
inline std::unique_ptr<DeployedFlow> DeployFrom(const std::shared_ptr<Session>& session,
                                                const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  v1::DeployRequest request;
  request.set_flow(text.str());
  const std::string id = OrDie(session->Deploy(request)).job().id();
  return OrDie(DeployedFlow::Attach(session, id, {}, absl::Now() + absl::Minutes(1)));
}

}  // namespace weir

#endif  // WEIR_TESTS_BENCH_BENCH_SESSION_H_
