#include "envs/twin/path.hh"

#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

constexpr int64_t kMaxExtraDelayMs = 60'000;

QueueKind kind_by_name(std::string_view name) {
  if (name == "infinite") return QueueKind::infinite;
  if (name == "droptail") return QueueKind::droptail;
  throw std::invalid_argument("unknown queue '" + std::string{name} + "': the twin has infinite, droptail");
}

}  // namespace

QueueSpec make_queue(std::string_view kind, int64_t packets, int64_t bytes) {
  const QueueSpec queue{kind_by_name(kind), packets, bytes};
  if (packets < 0 || bytes < 0) throw std::invalid_argument("a queue's limit must not be negative");
  if (queue.kind != QueueKind::infinite && packets == 0 && bytes == 0) {
    throw std::invalid_argument("a " + std::string{kind} + " queue needs a limit: packets or bytes");
  }
  return queue;
}

void check_flows(std::span<const FlowSpec> flows) {
  if (flows.empty() || flows.size() > kMaxFlows) {
    throw std::invalid_argument(std::to_string(flows.size()) + " flows on a path: give 1 to " +
                                std::to_string(kMaxFlows));
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const FlowSpec& flow = flows[i];
    const std::string which = "flow " + std::to_string(i) + ": ";
    if (!(flow.start_s >= 0 && flow.start_s <= kMaxSeconds && flow.stop_s > flow.start_s)) {
      throw std::invalid_argument(which + "0 <= start_s < stop_s must hold, not start_s " +
                                  std::to_string(flow.start_s) + ", stop_s " + std::to_string(flow.stop_s));
    }
    if (flow.extra_delay_ms < 0 || flow.extra_delay_ms > kMaxExtraDelayMs) {
      throw std::invalid_argument(which + "extra_delay_ms " + std::to_string(flow.extra_delay_ms) +
                                  " is not within [0, " + std::to_string(kMaxExtraDelayMs) + "]");
    }
  }
}

}  // namespace ccgym
