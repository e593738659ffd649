#include "server/api/direct_port.h"

#include <utility>

#include "common/base/status.h"
#include "common/net/address.h"

namespace weir {

absl::StatusOr<std::unique_ptr<DirectPort>> DirectPort::Open(const std::string& host,
                                                             OnAccept on_accept) {
  auto made = std::unique_ptr<DirectPort>(new DirectPort);
  auto accept = [self = made.get(), on_accept = std::move(on_accept)](std::shared_ptr<Link> link) {
    self->Note(link);
    on_accept(std::move(link));
  };
  WEIR_ASSIGN_OR_RETURN(made->listener_, made->transport_.Listen(HostPort{host, 0}.ToString(),
                                                                 LinkOptions(), std::move(accept)));
  WEIR_ASSIGN_OR_RETURN(const HostPort address, ParseHostPort(made->listener_->address()));
  made->port_ = address.port;
  return made;
}

void DirectPort::Note(const std::shared_ptr<Link>& link) {
  std::lock_guard lock(mutex_);
  std::erase_if(links_, [](const std::weak_ptr<Link>& other) { return other.expired(); });
  links_.push_back(link);
}

void DirectPort::CloseLinks(const absl::Status& reason) {
  listener_->Close();
  std::vector<std::weak_ptr<Link>> links;
  {
    std::lock_guard lock(mutex_);
    links.swap(links_);
  }
  for (const std::weak_ptr<Link>& weak : links) {
    if (const std::shared_ptr<Link> link = weak.lock()) link->Close(reason);
  }
}

}  // namespace weir
