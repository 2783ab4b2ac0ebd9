#include "envs/twin/path.hh"

#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

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

}  // namespace ccgym
