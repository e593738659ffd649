// A cluster in this process whose coordinator serves gRPC, for targets that are its clients. Its
// flow and its program are there from the beginning and are asked after each script whether they
// still answer. Used by one thread.
#ifndef WEIR_TESTS_FUZZ_CALLS_BENCH_H_
#define WEIR_TESTS_FUZZ_CALLS_BENCH_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "client/embedded/embedded_cluster.h"
#include "server/api/grpc_server.h"
#include "server/api/metrics.h"
#include "tests/fuzz/calls.pb.h"
#include "weir/v1/flows.grpc.pb.h"
#include "weir/v1/service.grpc.pb.h"

namespace weir {

class CallsBench {
 public:
  CallsBench();

  // Does what the script says, ends what it began, and checks that every stream ends and that the
  // coordinator serves others as before.
  void Run(fuzz::Script script);

 private:
  struct Streams;

  std::string DeployFlow();
  std::string SubmitJob();
  void Take(const fuzz::Step& step, Streams* streams);
  void TakeCall(const fuzz::Step& step, Streams* streams);
  void TakeJob(const fuzz::Step& step);
  // What is left of the script's flows and jobs is cancelled.
  void Cancel(const std::vector<std::string>& ids);
  // Others are served as if nothing had been.
  void CheckSteady();

  std::unique_ptr<EmbeddedCluster> cluster_;
  ServerMetrics metrics_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<v1::Jobs::Stub> jobs_;
  std::unique_ptr<v1::Flows::Stub> flows_;
  std::unique_ptr<v1::Compiler::Stub> compiler_;
  std::string steady_flow_;
};

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_CALLS_BENCH_H_
