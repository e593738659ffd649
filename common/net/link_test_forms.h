// What the tests of links need: every form behind one interface, and a recorder of callbacks. Tests
// only.
#ifndef WEIR_COMMON_NET_LINK_TEST_FORMS_H_
#define WEIR_COMMON_NET_LINK_TEST_FORMS_H_

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/link.h"

namespace weir {

// One form of links with a place to listen and a dialer.
class LinkForm {
 public:
  virtual ~LinkForm() = default;
  virtual absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address,
                                                           LinkOptions options,
                                                           OnAccept on_accept) = 0;
  // An address to listen on; a listener may differ in the port.
  virtual std::string free_address() const = 0;
  virtual Dialer& dialer() = 0;
  // Runs or waits until `done` holds. Returns: false if that takes unreasonably long.
  virtual bool WaitUntil(const std::function<bool()>& done) = 0;
  // Lets things that might happen happen.
  virtual void Settle() = 0;
  // Ends the transports of both sides.
  virtual void Destroy() = 0;
  // Whether links may be used from many threads.
  virtual bool threads() const { return true; }
};

struct NamedForm {
  std::string name;
  std::function<std::unique_ptr<LinkForm>()> make;
};
const std::vector<NamedForm>& AllLinkForms();

// The callbacks of one link, written down. Outlives the link by shared ownership in the callbacks.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  struct Received {
    std::string header;
    std::vector<std::string> payload;
  };

  // Callbacks that record. With hold, credit is kept until Release.
  enum class Credits { kReturn, kHold };
  LinkCallbacks Callbacks(Credits credits = Credits::kReturn);
  void Release();

  size_t frames() const;
  Received frame(size_t i) const;
  int writable_calls() const;
  std::optional<absl::Status> closed() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Received> frames_;
  std::vector<Credit> held_;
  int writable_calls_ = 0;
  std::optional<absl::Status> closed_;
};

// Two ends that are connected; `near` dialed.
struct LinkPair {
  std::unique_ptr<Listener> listener;
  std::shared_ptr<Link> near, far;
  std::shared_ptr<Recorder> near_events = std::make_shared<Recorder>();
  std::shared_ptr<Recorder> far_events = std::make_shared<Recorder>();

  void Start(Recorder::Credits far_credits = Recorder::Credits::kReturn) {
    near->Start(near_events->Callbacks());
    far->Start(far_events->Callbacks(far_credits));
  }
};

// Fails the test and returns null links if that does not succeed.
LinkPair MakePair(LinkForm& form, LinkOptions near = {}, LinkOptions far = {});

// Dials and waits, on any form.
absl::StatusOr<std::shared_ptr<Link>> DialOn(LinkForm& form, const std::string& address,
                                             DialOptions options);

std::string JoinPayload(const Frame& frame);

}  // namespace weir

#endif  // WEIR_COMMON_NET_LINK_TEST_FORMS_H_
