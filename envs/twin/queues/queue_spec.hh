// Which packets wait in front of a link, and which are dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"

namespace ccgym {

// The limits are on waiting packets only, bytes with the TUN header; 0 is no limit.
struct QueueSpec {
  std::string kind{"infinite"};
  int64_t packets{0};
  int64_t bytes{0};
  std::vector<std::pair<std::string, double>> parameters{};  // of its discipline, by name
};

struct QueueKind {
  std::string_view name;
  std::vector<QueueKey> keys;
};

// All that specs may name.
std::vector<QueueKind> known_queues();

// Returns `queue`. Throws std::invalid_argument for an unknown kind, an infinite queue with a limit, any
// other without one, and parameters that are missing, belong to another kind or are out of bounds.
QueueSpec checked(const QueueSpec& queue);

// Null for queues that need no discipline. Throws as `checked`.
std::unique_ptr<QueueDiscipline> make_discipline(const QueueSpec& queue, const QueueSetting& setting);

}  // namespace ccgym
