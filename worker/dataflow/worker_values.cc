// The part of the core that keeps, hands over and takes the values of variables.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "common/plan/frames.h"
#include "worker/dataflow/worker_core.h"

namespace weir {
namespace {

// The rows of a feed that are asked for. Errors: INVALID_ARGUMENT for rows that it does not have.
absl::StatusOr<Tensor> RowsFor(const v1::RunFeed& feed, const Tensor& value) {
  if (!feed.has_rows()) return value;
  const v1::RowsOfFeed& rows = feed.rows();
  const bool fits = value.rank() > 0 && rows.first() >= 0 && rows.count() >= 0 &&
                    rows.first() <= value.extent(0) &&
                    rows.count() <= value.extent(0) - rows.first();
  if (fits) return value.Rows(rows.first(), rows.first() + rows.count());
  return InvalidArgument("run ", feed.run_id(), " wants ", rows.count(), " rows from ",
                         rows.first(), " on of ", value.type().ToString());
}

bool IsIn(const std::vector<const Buffer*>& memory, const Tensor& tensor) {
  return tensor.buffer() != nullptr &&
         std::find(memory.begin(), memory.end(), tensor.buffer().get()) != memory.end();
}

}  // namespace

void WorkerCore::Obey(const v1::ValueOrders& orders, std::vector<Tensor> payloads) {
  if (payloads.size() != static_cast<size_t>(orders.stores_size())) return;
  // They may lie in memory of a client in this process.
  for (int i = 0; i < orders.stores_size(); ++i) {
    options_.values->Put(orders.stores(i).id(), payloads[i].Clone());
  }
  for (const v1::NewValue& value : orders.expects()) {
    const absl::Status status = BytesOf(value.header()).status();
    if (!status.ok()) {
      Report(value.id(), status);
      continue;
    }
    const DType dtype = *DTypeFromWire(static_cast<int>(value.header().dtype()));
    const Extents extents(value.header().extents().begin(), value.header().extents().end());
    Report(value.id(), options_.values->Expect(value.id(), dtype, extents));
  }
  for (const v1::HandOver& hand : orders.hands()) HandOver(hand);
  for (uint64_t id : orders.drops()) options_.values->Drop(id);
}

void WorkerCore::HandOver(const v1::HandOver& hand) {
  std::optional<Tensor> value = options_.values->Get(hand.id());
  absl::StatusOr<Tensor> rows =
      absl::NotFoundError(StrCat("worker ", name_, " has no value ", hand.id()));
  if (value.has_value()) rows = RowsFor(hand.feed(), *value);
  if (hand.to_case() == v1::HandOver::kReader || !rows.ok()) {
    v1::WorkerMessage message;
    v1::ValueReport* report = message.mutable_value_report();
    report->set_id(hand.id());
    report->set_reader(hand.reader());
    std::vector<Tensor> payloads;
    if (rows.ok()) {
      *report->mutable_header() = HeaderOf(*rows);
      // A client in this process may write into it.
      payloads.push_back(rows->Clone());
    } else {
      *report->mutable_failure() = MakeFailure(rows.status());
    }
    return outbox_->SendToCoordinator(message, std::move(payloads));
  }
  if (hand.to_case() == v1::HandOver::kNewId) {
    return SendValue(hand.new_id(), 0, *std::move(rows), hand.peer());
  }
  v1::PeerMessage message;
  v1::Rows* header = message.mutable_rows();
  header->set_run_id(hand.feed().run_id());
  header->set_generation(hand.feed().generation());
  header->set_value(hand.feed().value());
  header->set_first_row(hand.feed().rows().first());
  *header->mutable_header() = HeaderOf(*rows);
  if (hand.peer().worker_id() == registered_.worker_id()) {
    return TakeRows(*header, *std::move(rows));
  }
  outbox_->SendToPeer(hand.peer(), message, {*std::move(rows)});
}

void WorkerCore::SendValue(uint64_t id, int64_t first_row, Tensor rows, const v1::Peer& owner) {
  if (owner.worker_id() == registered_.worker_id()) {
    return AddToValue(id, first_row, std::move(rows));
  }
  v1::PeerMessage message;
  v1::ValueRows* header = message.mutable_value_rows();
  header->set_id(id);
  header->set_first_row(first_row);
  *header->mutable_header() = HeaderOf(rows);
  outbox_->SendToPeer(owner, message, {std::move(rows)});
}

void WorkerCore::AddToValue(uint64_t id, int64_t first_row, Tensor rows) {
  Report(id, options_.values->AddRows(id, first_row, std::move(rows)));
}

void WorkerCore::Report(uint64_t id, const absl::StatusOr<bool>& whole) {
  if (whole.ok() && !*whole) return;
  v1::WorkerMessage message;
  message.mutable_value_report()->set_id(id);
  if (!whole.ok()) {
    *message.mutable_value_report()->mutable_failure() = MakeFailure(whole.status());
  }
  outbox_->SendToCoordinator(message, {});
}

std::vector<Run::Result> WorkerCore::StoreResults(StartedRun* started) {
  std::vector<Run::Result> results = started->run.Results();
  const auto& stores = started->start.stores();
  if (stores.empty() && started->memory_of_variables.empty()) return results;
  std::erase_if(results, [&](Run::Result& result) {
    const auto store = std::find_if(stores.begin(), stores.end(), [&](const auto& each) {
      return each.output() == result.output;
    });
    if (store == stores.end()) return false;
    Tensor rows = std::move(result.part.rows);
    // One message of no rows is enough for a value that has none.
    if (rows.rank() > 0 && rows.extent(0) == 0 && started->run.rank() != 0) return true;
    if (IsIn(started->memory_of_clients, rows)) rows = rows.Clone();
    started->memory_of_variables.push_back(rows.buffer().get());
    SendValue(store->id(), result.part.first_row, std::move(rows), store->owner());
    return true;
  });
  for (Run::Result& result : results) {
    Tensor& rows = result.part.rows;
    if (IsIn(started->memory_of_variables, rows)) rows = rows.Clone();
  }
  return results;
}

}  // namespace weir
