// What the service adds to a call: a warm job of one op through a running server and worker, next
// to a bare gRPC echo of the same bytes. All of them are processes of their own.
//
//   weir_overhead_bench     prints both medians for each size, and their ratio, in several rounds
//                           with processes of their own: on which CPUs they come to lie changes the
//                           times of a whole round. Exit code 1 if the median of the ratios of a
//                           size is above 3. Starts the weir-server and weir-worker beside it.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "weir/v1/service.grpc.pb.h"

namespace weir {
namespace {

constexpr int kWarm = 100;
constexpr int kCalls = 1000;
constexpr int kRounds = 5;
constexpr int64_t kElements[] = {1, 256, 16384, 262144};  // of f32
constexpr double kAllowed = 3;

class Echo : public v1::Jobs::CallbackService {
 public:
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* call, const v1::RunRequest* request,
                                v1::RunResponse* response) override {
    for (const v1::Tensor& input : request->inputs()) *response->add_outputs() = input;
    grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

// A child process, which ends with this one.
class Process {
 public:
  // In the child `main` is called with the writing end of a pipe.
  explicit Process(const std::function<void(int out)>& main) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    id_ = fork();
    if (id_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      main(ends[1]);
      _exit(1);
    }
    close(ends[1]);
    out_ = ends[0];
  }
  ~Process() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    close(out_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What comes through the pipe up to the end of a line. Returns: nothing if it ends before.
  std::string ReadLine() const {
    std::string line;
    for (char letter; read(out_, &letter, 1) == 1 && letter != '\n';) line += letter;
    return line;
  }

 private:
  pid_t id_ = -1;
  int out_ = -1;
};

void ServeEcho(int out) {
  Echo service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const std::string line = StrCat("127.0.0.1:", port, "\n");
  if (write(out, line.data(), line.size()) < 0) return;
  server->Wait();
}

// Runs a program that lies beside this one; its log goes to the pipe.
std::function<void(int)> Program(std::vector<std::string> words) {
  return [words = std::move(words)](int out) {
    dup2(out, STDERR_FILENO);
    const std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv((folder / words[0]).c_str(), arguments.data());
  };
}

// What the server says once it serves.
std::string AddressOf(const Process& server) {
  constexpr std::string_view kSays = "listening on ";
  std::string line = server.ReadLine();
  while (!line.empty() && line.rfind(kSays, 0) != 0) line = server.ReadLine();
  return line.substr(std::min(line.size(), kSays.size()));
}

v1::RunRequest RequestOf(int64_t elements) {
  v1::RunRequest request;
  v1::Program* program = request.mutable_spec()->mutable_program();
  program->set_format(v1::Program::FORMAT_TEXT);
  program->set_name("add.weir");
  program->set_source("func @main(%x: f32[n]) -> (f32[n] \"y\") { %y = add(%x, %x) return %y }");
  request.mutable_spec()->add_input_names("x");
  ToMessage(Tensor::Zeros(DType::kF32, {elements}), request.add_inputs());
  return request;
}

// One call; none if it fails.
std::optional<absl::Duration> Call(v1::Jobs::Stub& stub, const v1::RunRequest& request,
                                   v1::RunResponse* response) {
  grpc::ClientContext context;
  const absl::Time start = absl::Now();
  const grpc::Status status = stub.Run(&context, request, response);
  const absl::Duration took = absl::Now() - start;
  if (status.ok()) return took;
  std::fprintf(stderr, "%s\n", status.error_message().c_str());
  return std::nullopt;
}

absl::Duration Median(std::vector<absl::Duration> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

struct Times {
  absl::Duration bare;
  absl::Duration job;
};

// Medians. Bare calls and jobs take turns, so that both meet the machine as it is.
std::optional<Times> Measure(v1::Jobs::Stub& bare, v1::Jobs::Stub& job,
                             const v1::RunRequest& request, v1::RunResponse* response) {
  std::vector<absl::Duration> bare_times, job_times;
  for (int i = 0; i < kWarm + kCalls; ++i) {
    for (auto [stub, times] : {std::pair(&bare, &bare_times), std::pair(&job, &job_times)}) {
      const std::optional<absl::Duration> took = Call(*stub, request, response);
      if (!took.has_value()) return std::nullopt;
      if (i >= kWarm) times->push_back(*took);
    }
  }
  return Times{Median(std::move(bare_times)), Median(std::move(job_times))};
}

std::optional<Times> MeasureSize(v1::Jobs::Stub& echo, v1::Jobs::Stub& job, int64_t elements) {
  v1::RunRequest request = RequestOf(elements);
  v1::RunResponse response;
  if (!Call(job, request, &response).has_value()) return std::nullopt;
  request.mutable_spec()->clear_program();
  request.mutable_spec()->set_program_id(response.program_id());
  return Measure(echo, job, request, &response);
}

// Writes a line with both times, in microseconds, for each size. In a process of its own, as gRPC
// must not have started where others are forked.
void RunRound(int out) {
  const Process echo(ServeEcho);
  const std::string echo_address = echo.ReadLine();
  const Process server(
      Program({"weir-server", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}));
  const std::string address = AddressOf(server);
  if (address.empty()) {
    std::fprintf(stderr, "weir-server does not start\n");
    return;
  }
  const Process worker(Program({"weir-worker", "--server", address, "--name", "w1"}));
  const auto credentials = grpc::InsecureChannelCredentials();
  const auto echo_stub = v1::Jobs::NewStub(grpc::CreateChannel(echo_address, credentials));
  const auto job_stub = v1::Jobs::NewStub(grpc::CreateChannel(address, credentials));
  for (const int64_t elements : kElements) {
    const std::optional<Times> times = MeasureSize(*echo_stub, *job_stub, elements);
    if (!times.has_value()) return;
    const std::string line = StrCat(absl::ToDoubleMicroseconds(times->bare), " ",
                                    absl::ToDoubleMicroseconds(times->job), "\n");
    if (write(out, line.data(), line.size()) < 0) return;
  }
}

int Main() {
  std::map<int64_t, std::vector<double>> ratios;
  for (int round = 0; round < kRounds; ++round) {
    const Process process(RunRound);
    for (const int64_t elements : kElements) {
      double echo = 0, job = 0;
      if (std::sscanf(process.ReadLine().c_str(), "%lf %lf", &echo, &job) != 2) return 1;
      std::printf("%8lld bytes  echo %8.1f us  job %8.1f us  ratio %.2f\n",
                  static_cast<long long>(elements * 4), echo, job, job / echo);
      ratios[elements].push_back(job / echo);
    }
  }
  bool within = true;
  for (auto& [elements, all] : ratios) {
    std::sort(all.begin(), all.end());
    const double median = all[all.size() / 2];
    within = within && median <= kAllowed;
    std::printf("%8lld bytes  ratio %.2f (%.2f to %.2f)\n", static_cast<long long>(elements * 4),
                median, all.front(), all.back());
  }
  return within ? 0 : 1;
}

}  // namespace
}  // namespace weir

int main() { return weir::Main(); }
