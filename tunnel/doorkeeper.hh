// The server's side of the introduction: lets in one client that knows the secret, and only one.
#pragma once

#include <optional>
#include <span>

#include "tunnel/introduction.hh"

namespace ccgym::tunnel {

class Doorkeeper {
 public:
  Doorkeeper(const Key& secret, const PrivateAddresses& server);

  // What to send back; nullopt for what is no introduction, or no client's. `mtu`: inside, to be told.
  std::optional<IntroductionBytes> answer(std::span<const std::byte> datagram, int mtu);

  // Once a client has been let in.
  [[nodiscard]] std::optional<SessionKeys> session_keys() const;

 private:
  [[nodiscard]] Introduction challenge_for(const Introduction& asked, int mtu) const;
  [[nodiscard]] bool is_someone_else(const Introduction& asked) const {
    return admitted_ && *admitted_ != asked.client_nonce;
  }

  Key secret_;
  IntroductionKey key_;
  PrivateAddresses addresses_;
  Nonce nonce_{random_nonce()};
  std::optional<Nonce> admitted_{};
};

}  // namespace ccgym::tunnel
