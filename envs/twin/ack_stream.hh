// The calls a sender made to its controller over one run, to be made again to any other controller: what a
// controller costs, without sender and network.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "envs/twin/path.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AckStream {
 public:
  // Simulates `scheme` over `path`, and records.
  AckStream(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed);

  // Makes a controller and all recorded calls to it, its timers in between; reads its limits and its timer
  // after each, as the sender does. Throws as make_controller does.
  void replay(std::string_view scheme) const;

  [[nodiscard]] int64_t acks() const { return static_cast<int64_t>(acked_.size()); }  // packets

 private:
  // The packets of a call stand among all of their kind, from `acked_begin` and `lost_begin` on.
  struct RecordedAck {
    AckEvent ack{};
    std::size_t acked_begin{};
    std::size_t lost_begin{};
  };
  struct RecordedTimeout {
    Timeout timeout{};
    std::size_t lost_begin{};
  };
  struct Restart {
    Time idle{};
  };
  using What = std::variant<SentPacket, RecordedAck, RecordedTimeout, SpuriousLoss, Restart>;
  class Recorder;

  void make(Time now, const What& what, CongestionController& controller) const;

  std::vector<std::pair<Time, What>> calls_{};
  std::vector<AckedPacket> acked_{};
  std::vector<LostPacket> lost_{};
};

}  // namespace ccgym
