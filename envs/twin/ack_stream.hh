// The calls a sender made to its controller over one flight, to be made again to any other controller: what a
// controller costs, without sender and network.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "envs/twin/path.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AckStream {
 public:
  // Flies `scheme` over `path`, and records.
  AckStream(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed);

  // Makes a controller and all recorded calls to it, its timers in between; reads its limits and its timer
  // after each, as the sender does. Throws as make_controller does.
  void replay(std::string_view scheme) const;

  [[nodiscard]] int64_t acks() const { return static_cast<int64_t>(acked_.size()); }

 private:
  enum class Kind { sent, acked, lost };
  struct Call {
    Time now{};
    Kind kind{};
    std::size_t index{};  // into the calls of its kind
  };
  struct RecordedLoss {
    std::vector<LostPacket> packets{};
    int64_t inflight_bytes{};
    bool timeout{};
  };
  class Recorder;

  void make(const Call& call, CongestionController& controller) const;

  std::vector<Call> calls_{};
  std::vector<SentPacket> sent_{};
  std::vector<AckedPacket> acked_{};
  std::vector<RecordedLoss> lost_{};
};

}  // namespace ccgym
