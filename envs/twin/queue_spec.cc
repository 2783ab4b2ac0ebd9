#include "envs/twin/queue_spec.hh"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace ccgym {

namespace {

constexpr std::array<std::pair<std::string_view, QueueKind>, 5> kKinds{{
    {"infinite", QueueKind::infinite},
    {"droptail", QueueKind::droptail},
    {"drophead", QueueKind::drophead},
    {"codel", QueueKind::codel},
    {"pie", QueueKind::pie},
}};

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

QueueKind queue_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, [](const auto& entry) { return entry.first; });
  if (found != kKinds.end()) return found->second;
  throw std::invalid_argument("unknown queue '" + std::string{name} +
                              "': known are infinite, droptail, drophead, codel, pie");
}

QueueSpec checked(const QueueSpec& queue) {
  const bool limited = queue.packets > 0 || queue.bytes > 0;
  require(queue.packets >= 0 && queue.bytes >= 0, "a queue's limit must not be negative");
  require(limited == (queue.kind != QueueKind::infinite),
          limited ? "an infinite queue takes no limit" : "a dropping queue needs a limit: packets or bytes");
  require(queue.kind != QueueKind::codel || (queue.target_ms > 0 && queue.interval_ms > 0),
          "a codel queue needs target_ms and interval_ms, both from 1");
  require(queue.kind != QueueKind::pie || (queue.qdelay_ref_ms > 0 && queue.max_burst_ms > 0),
          "a pie queue needs qdelay_ref_ms and max_burst_ms, both from 1");
  return queue;
}

}  // namespace ccgym
