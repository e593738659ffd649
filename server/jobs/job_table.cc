#include "server/jobs/job_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr uint32_t kDefaultPage = 100;
constexpr uint32_t kMaxPage = 1000;

int64_t BytesOfAll(const std::vector<Tensor>& tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.num_bytes();
  return bytes;
}

}  // namespace

v1::Failure FailureOf(const absl::Status& status, std::string_view worker) {
  v1::Failure failure;
  failure.set_code(static_cast<uint32_t>(status.code()));
  failure.set_message(std::string(ToStd(status.message())));
  failure.set_worker(std::string(worker));
  return failure;
}

JobEntry* JobTable::Add(v1::Job view, SpecDigest digest) {
  const uint64_t sequence = next_sequence_++;
  JobEntry& job = jobs_[sequence];
  job.view = std::move(view);
  job.sequence = sequence;
  job.digest = std::move(digest);
  by_id_[job.view.id()] = sequence;
  if (!job.view.submission_id().empty()) by_submission_[job.view.submission_id()] = sequence;
  return &job;
}

JobEntry* JobTable::Find(std::string_view id) {
  auto it = by_id_.find(ToAbsl(id));
  return it == by_id_.end() ? nullptr : Get(it->second);
}

JobEntry* JobTable::FindBySubmission(std::string_view submission_id) {
  auto it = by_submission_.find(ToAbsl(submission_id));
  return it == by_submission_.end() ? nullptr : Get(it->second);
}

JobEntry* JobTable::Get(uint64_t sequence) {
  auto it = jobs_.find(sequence);
  return it == jobs_.end() ? nullptr : &it->second;
}

v1::LogEntry* JobTable::AppendLog(JobEntry* job, absl::Time wall, std::string_view worker,
                                  std::string_view text) {
  v1::LogEntry& entry = job->log.emplace_back();
  entry.set_offset(job->next_log_offset++);
  entry.set_unix_ms(absl::ToUnixMillis(wall));
  entry.set_worker(std::string(worker));
  entry.set_text(std::string(text));
  job->log_bytes += text.size();
  while (job->log.size() > 1 && (job->log.size() > static_cast<size_t>(limits_.max_log_lines) ||
                                 job->log_bytes > limits_.max_log_bytes)) {
    job->log_bytes -= job->log.front().text().size();
    job->log.pop_front();
  }
  return &job->log.back();
}

void JobTable::KeepResults(JobEntry* job, std::vector<Tensor> results) {
  job->results = std::move(results);
  job->results_kept = true;
  with_results_.push_back(job->sequence);
  result_bytes_ += BytesOfAll(job->results);
  // The newest results are kept whatever their size: the client has not seen them yet.
  while (result_bytes_ > limits_.max_kept_result_bytes && with_results_.size() > 1) {
    DropResults(Get(with_results_.front()));
  }
}

void JobTable::DropResults(JobEntry* job) {
  if (!job->results_kept) return;
  result_bytes_ -= BytesOfAll(job->results);
  job->results.clear();
  job->results_kept = false;
  with_results_.erase(std::find(with_results_.begin(), with_results_.end(), job->sequence));
}

void JobTable::Prune() {
  const size_t limit = static_cast<size_t>(limits_.max_kept_jobs);
  for (auto it = jobs_.begin(); it != jobs_.end() && jobs_.size() > limit;) {
    JobEntry& job = it->second;
    if (!job.ended()) {
      ++it;
      continue;
    }
    DropResults(&job);
    by_id_.erase(job.view.id());
    by_submission_.erase(job.view.submission_id());
    it = jobs_.erase(it);
  }
}

absl::StatusOr<v1::ListResponse> JobTable::List(const v1::ListRequest& request) const {
  uint64_t before = next_sequence_;
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &before)) {
    return InvalidArgument("page_token '", request.page_token(), "' did not come from List");
  }
  const uint32_t size =
      request.page_size() == 0 ? kDefaultPage : std::min(request.page_size(), kMaxPage);
  v1::ListResponse response;
  auto it = jobs_.lower_bound(before);
  while (it != jobs_.begin() && response.jobs_size() < static_cast<int>(size)) {
    --it;
    *response.add_jobs() = it->second.view;
  }
  if (it != jobs_.begin()) response.set_next_page_token(StrCat(it->first));
  return response;
}

}  // namespace weir
