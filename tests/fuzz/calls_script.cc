#include "tests/fuzz/calls_script.h"

#include "common/plan/tensor_chunks.h"

namespace weir {
namespace {

constexpr char kProgram[] = R"(
func @main(%x: f32[2]) -> (f32[2] "y") {
  !0 = print(%x) {message = "row {}", place = [0], rows = 0}
  %y = add(%x, %x)
  return %y
})";

constexpr char kFlowId[] = "FLOW";
constexpr char kJobId[] = "JOB";

v1::JobSpec Spec() {
  v1::JobSpec spec;
  spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  spec.mutable_program()->set_source(kProgram);
  spec.mutable_program()->set_name("rows.weir");
  spec.mutable_program()->add_map("x");
  spec.add_input_names("x");
  return spec;
}

v1::TensorChunk ChunkOf(const Tensor& tensor, uint32_t index) {
  v1::Tensor whole;
  ToMessage(tensor, &whole);
  v1::TensorChunk chunk;
  chunk.set_index(index);
  *chunk.mutable_header() = whole.header();
  chunk.set_data(whole.data());
  return chunk;
}

Tensor Rows() { return Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}); }

v1::AttachRequest AttachTo(const std::string& client) {
  v1::AttachRequest request;
  request.mutable_attach()->set_id(kFlowId);
  request.mutable_attach()->set_client(client);
  request.mutable_attach()->add_inputs()->set_name("in");
  request.mutable_attach()->add_outputs()->set_name("out");
  return request;
}

v1::AttachRequest RecordsAt(uint64_t number, int64_t epoch) {
  v1::AttachRequest request;
  v1::FlowRecords* records = request.mutable_records();
  records->set_port("in");
  records->set_number(number);
  records->set_epoch(epoch);
  records->set_has_weights(true);
  *records->add_chunks() = ChunkOf(Tensor::Of<int64_t>({3}, {1, 2, -3}), 0);
  *records->add_chunks() = ChunkOf(Tensor::Of<int64_t>({3}, {1, 1, 2}), 1);
  records->set_is_last_piece(true);
  return request;
}

v1::AttachRequest AdvanceTo(uint64_t number, int64_t epoch, bool closes) {
  v1::AttachRequest request;
  request.mutable_advance()->set_input("in");
  request.mutable_advance()->set_number(number);
  request.mutable_advance()->set_epoch(epoch);
  request.mutable_advance()->set_closed(closes);
  return request;
}

v1::AttachRequest Acknowledge(uint64_t number) {
  v1::AttachRequest request;
  request.mutable_ack()->set_output("out");
  request.mutable_ack()->set_number(number);
  return request;
}

fuzz::Script Feeding() {
  fuzz::Script script;
  *script.add_steps()->mutable_attach() = AttachTo("a client");
  *script.add_steps()->mutable_attach() = RecordsAt(1, 0);
  *script.add_steps()->mutable_attach() = AdvanceTo(2, 1, false);
  *script.add_steps()->mutable_attach() = Acknowledge(1);
  *script.add_steps()->mutable_attach() = RecordsAt(3, 1);
  *script.add_steps()->mutable_attach() = AdvanceTo(4, 2, true);
  return script;
}

// The client is gone in the middle and comes again, by itself and in place of its former self.
fuzz::Script Returning() {
  fuzz::Script script;
  *script.add_steps()->mutable_attach() = AttachTo("a client");
  fuzz::Step* last = script.add_steps();
  *last->mutable_attach() = RecordsAt(1, 0);
  last->set_leaves(true);
  for (const uint32_t stream : {1, 2}) {
    fuzz::Step* again = script.add_steps();
    again->set_stream(stream);
    *again->mutable_attach() = AttachTo("a client");
    fuzz::Step* more = script.add_steps();
    more->set_stream(stream);
    *more->mutable_attach() = RecordsAt(stream, 0);
  }
  return script;
}

fuzz::Script Calling() {
  fuzz::Script script;
  for (const uint32_t stream : {0, 1, 0}) {
    fuzz::Step* step = script.add_steps();
    step->set_stream(stream);
    v1::CallManyRequest* request = step->mutable_call_many();
    request->set_id(kFlowId);
    request->set_input("in");
    request->set_output("out");
    for (const int64_t x : {7, -7, 8}) {
      v1::CallManyRequest::Call* call = request->add_calls();
      call->set_number(static_cast<uint64_t>(request->calls_size()));
      ToMessage(Tensor::Of<int64_t>({}, {x}), call->add_record());
    }
  }
  v1::CallFlowRequest* call = script.add_steps()->mutable_call();
  call->set_id(kFlowId);
  ToMessage(Tensor::Of<int64_t>({}, {9}), call->add_record());
  script.add_steps()->mutable_explain_flow()->set_id(kFlowId);
  script.mutable_steps(4)->mutable_explain_flow()->set_vertex("out");
  script.add_steps()->mutable_get_flow()->set_id(kFlowId);
  return script;
}

fuzz::Script Deploying() {
  fuzz::Script script;
  v1::DeployRequest* deploy = script.add_steps()->mutable_deploy();
  deploy->set_flow(kScriptFlow);
  deploy->set_name("a.flow");
  deploy->set_submission_id("once");
  (*deploy->mutable_labels())["who"] = "fuzz";
  deploy->set_workers(1);
  *script.add_steps() = script.steps(0);
  script.add_steps()->mutable_cancel_flow()->set_id(kFlowId);
  script.add_steps()->mutable_wait()->set_id(kFlowId);
  return script;
}

fuzz::Script Running() {
  fuzz::Script script;
  *script.add_steps()->mutable_run() = ScriptRun();
  for (const v1::SubmitRequest& request : ScriptSubmission()) {
    *script.add_steps()->mutable_submit() = request;
  }
  script.mutable_steps(1)->mutable_submit()->mutable_spec()->set_submission_id("named");
  script.mutable_steps(1)->mutable_submit()->mutable_spec()->set_repeat(3);
  script.add_steps()->mutable_wait()->set_id(kJobId);
  script.add_steps()->mutable_result()->set_id(kJobId);
  script.add_steps()->mutable_logs()->set_id(kJobId);
  script.add_steps()->mutable_get()->set_id(kJobId);
  script.add_steps()->mutable_cancel()->set_id(kJobId);
  script.add_steps()->mutable_list()->set_page_size(5);
  v1::ExplainRequest* explain = script.add_steps()->mutable_explain();
  *explain->mutable_program() = Spec().program();
  (*explain->mutable_symbols())["n"] = 4;
  return script;
}

void PutId(const std::string& flow, const std::string& job, std::string* id) {
  if (*id == kFlowId) *id = flow;
  if (*id == kJobId) *id = job;
}

void KeepProgram(v1::JobSpec* spec) {
  if (!spec->program().source().empty()) spec->mutable_program()->set_source(kProgram);
}

}  // namespace

const char kScriptFlow[] = R"(
func @double(%x: i64[]) -> (i64[]) {
  %zero = constant {value = i64[] {0}}
  %is = greater_equal(%x, %zero)
  !0 = check(%is) {message = "not below zero"}
  %y = add(%x, %x)
  return %y
}
flow @doubles {
  %in = input() {types = ["i64[]"]}
  %y = map(%in) {function = "double", on_failure = "drop"}
  %out = output(%y)
})";

v1::RunRequest ScriptRun() {
  v1::RunRequest request;
  *request.mutable_spec() = Spec();
  ToMessage(Rows(), request.add_inputs());
  return request;
}

std::vector<v1::SubmitRequest> ScriptSubmission() {
  std::vector<v1::SubmitRequest> requests(2);
  *requests[0].mutable_spec() = Spec();
  *requests[1].mutable_input() = ChunkOf(Rows(), 0);
  return requests;
}

std::vector<std::string> ScriptSeeds() {
  std::vector<std::string> seeds;
  for (const fuzz::Script& script : {Feeding(), Returning(), Calling(), Deploying(), Running()}) {
    seeds.push_back(script.SerializeAsString());
  }
  return seeds;
}

std::vector<std::string> ScriptWords() {
  return {kFlowId, kJobId, "in", "out", "y", "a client", kScriptFlow, kProgram, "x", "n"};
}

void PutIds(const std::string& flow, const std::string& job, fuzz::Script* script) {
  for (fuzz::Step& step : *script->mutable_steps()) {
    const google::protobuf::FieldDescriptor* kind = step.GetReflection()->GetOneofFieldDescriptor(
        step, step.GetDescriptor()->FindOneofByName("kind"));
    if (kind == nullptr) continue;
    google::protobuf::Message* message = step.GetReflection()->MutableMessage(&step, kind);
    if (step.has_attach()) {
      if (!step.attach().has_attach()) continue;
      message = step.mutable_attach()->mutable_attach();
    }
    if (step.has_run()) KeepProgram(step.mutable_run()->mutable_spec());
    if (step.submit().has_spec()) KeepProgram(step.mutable_submit()->mutable_spec());
    const google::protobuf::FieldDescriptor* id = message->GetDescriptor()->FindFieldByName("id");
    if (id == nullptr) continue;
    std::string text = message->GetReflection()->GetString(*message, id);
    PutId(flow, job, &text);
    message->GetReflection()->SetString(message, id, text);
  }
}

}  // namespace weir
