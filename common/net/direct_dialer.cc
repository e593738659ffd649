#include "common/net/direct_dialer.h"

#include <charconv>
#include <utility>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/net/address.h"

namespace weir {
namespace {

constexpr std::string_view kScheme = "tcp:";
// It is as far as the port that has just answered.
constexpr absl::Duration kAtOnce = absl::Seconds(1);

}  // namespace

std::string DirectGreeting(uint16_t port) { return StrCat(kScheme, port); }

std::optional<uint16_t> DirectPortOf(std::string_view greeting) {
  if (greeting.substr(0, kScheme.size()) != kScheme) return std::nullopt;
  greeting.remove_prefix(kScheme.size());
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(greeting.data(), greeting.data() + greeting.size(), port);
  if (error != std::errc() || end != greeting.data() + greeting.size() || port == 0) {
    return std::nullopt;
  }
  return port;
}

void DirectDialer::Dial(const std::string& address, DialOptions options, OnDialed done) {
  DialOptions direct = options;
  direct.attempt_timeout = kAtOnce;
  direct.deadline = kAtOnce;
  auto move_on = [tcp = tcp_, address, direct,
                  done = std::move(done)](absl::StatusOr<std::shared_ptr<Link>> first) mutable {
    const std::optional<uint16_t> port =
        first.ok() ? DirectPortOf((*first)->peer_greeting()) : std::nullopt;
    absl::StatusOr<HostPort> target = ParseHostPort(address);
    if (!port.has_value() || !target.ok()) return done(std::move(first));
    target->port = *port;
    tcp->Dial(target->ToString(), std::move(direct),
              [first = *std::move(first), done = std::move(done),
               where = target->ToString()](absl::StatusOr<std::shared_ptr<Link>> link) {
                if (!link.ok()) {
                  Log(LogLevel::kInfo, "no TCP link, staying with the first one",
                      {{"address", where}, {"why", link.status()}});
                  return done(first);
                }
                first->Close(absl::OkStatus());
                done(std::move(link));
              });
  };
  first_->Dial(address, std::move(options), std::move(move_on));
}

}  // namespace weir
