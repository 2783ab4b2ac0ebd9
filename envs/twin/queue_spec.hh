// Which packets wait in front of a link, and which are dropped.
#pragma once

#include <cstdint>
#include <string_view>

namespace ccgym {

enum class QueueKind { infinite, droptail, drophead, codel, pie };

// mahimahi's parameters. The limits are on waiting packets only, bytes with the TUN header; 0 is no limit.
struct QueueSpec {
  QueueKind kind{QueueKind::infinite};
  int64_t packets{0};
  int64_t bytes{0};
  int64_t target_ms{0};      // codel
  int64_t interval_ms{0};    // codel
  int64_t qdelay_ref_ms{0};  // pie
  int64_t max_burst_ms{0};   // pie
};

// By mahimahi's name of the queue; throws std::invalid_argument for an unknown one.
QueueKind queue_kind(std::string_view name);

// Returns `queue`; throws std::invalid_argument when mahimahi would not take it: a negative parameter, an
// infinite queue with a limit, another one without, one that lacks its parameters.
QueueSpec checked(const QueueSpec& queue);

}  // namespace ccgym
