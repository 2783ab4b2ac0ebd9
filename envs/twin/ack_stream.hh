// Records the calls that a sender made to its controller over one run, and makes them again to any other
// controller. This measures what a controller costs, without sender and network.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "envs/twin/path.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

class AckStream {
 public:
  // Simulates `scheme` over `path` and records its calls.
  AckStream(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed);
  AckStream(const AckStream&) = delete;  // its events point at its packets
  AckStream& operator=(const AckStream&) = delete;
  ~AckStream() = default;

  // Makes a controller, and makes all recorded calls to it with its own timers in between. After each call
  // its limits and timer are read, as the sender does. Throws as make_controller does.
  void replay(std::string_view scheme) const;

  [[nodiscard]] int64_t acks() const { return static_cast<int64_t>(acked_.size()); }  // acknowledged packets

 private:
  // The arguments of each kind of call have an array of their own, in the order of the calls, so that as
  // little as possible is read besides them: otherwise the speed of the memory would be measured.
  enum class Kind : uint8_t { sent, ack, timeout, spurious_loss, restart };
  struct Position {
    std::size_t sent{};
    std::size_t ack{};
    std::size_t timeout{};
    std::size_t spurious_loss{};
    std::size_t restart{};
  };
  class Recorder;

  void point_at_packets();
  void make_call(Time now, Kind kind, Position& next, CongestionController& controller) const;
  void make_rare_call(Time now, Kind kind, Position& next, CongestionController& controller) const;
  [[nodiscard]] Timer timer_after(Kind last, const Position& next) const;

  std::vector<std::pair<Time, Kind>> calls_{};
  std::vector<SentPacket> sent_{};
  std::vector<AckEvent> acks_{};
  std::vector<AckedPacket> acked_{};  // of these, one after the other
  std::vector<LostPacket> lost_{};
  std::vector<Timeout> timeouts_{};
  std::vector<LostPacket> timed_out_{};  // of these
  std::vector<SpuriousLoss> spurious_losses_{};
  std::vector<Time> idle_times_{};
};

}  // namespace ccgym
