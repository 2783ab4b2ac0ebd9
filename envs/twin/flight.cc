#include "envs/twin/flight.hh"

#include <algorithm>
#include <chrono>

#include "agents/controllers/make_controller.hh"
#include "agents/controllers/policy/policy.hh"
#include "envs/twin/twin.hh"

namespace ccgym {

namespace {

constexpr Time kSamplePeriod = std::chrono::milliseconds{10};

int32_t in_ms(int64_t ns) { return static_cast<int32_t>(ns / kNsPerMs); }

class FlightRecorder final : public UplinkObserver {
 public:
  explicit FlightRecorder(Flight& flight) : flight_(flight) {}

  void on_arrival(const LinkPacket& packet) override {
    flight_.arrival_ms.push_back(in_ms(packet.arrival_ns));
    flight_.arrival_bytes.push_back(packet.bytes);
  }
  void on_departure(const LinkPacket& packet, int64_t now_ns) override {
    flight_.departure_ms.push_back(in_ms(now_ns));
    flight_.departure_bytes.push_back(packet.bytes);
    flight_.departure_delay_ms.push_back(in_ms(now_ns - packet.arrival_ns));
  }

 private:
  Flight& flight_;
};

template <class Controller>
Flight fly_controller(const PathSpec& path, Controller& controller, Time duration, uint64_t seed) {
  Flight flight;
  FlightRecorder recorder{flight};
  Twin<Controller> twin{path, controller, seed, &recorder};
  for (Time now{}; now < duration; now += kSamplePeriod) {
    twin.run(std::min(duration, now + kSamplePeriod), [] { return false; });
    flight.cwnd_ms.push_back(std::chrono::duration<double, std::milli>(twin.now()).count());
    flight.cwnd_packets.push_back(static_cast<double>(controller.limits().cwnd_bytes) /
                                  static_cast<double>(kDataBytes));
  }
  const auto duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  flight.opportunities = path.uplink.schedule->count_through(duration_ms);
  flight.sent_packets = twin.sender().sent_packets();
  flight.delivered_packets = twin.sender().delivered_packets();
  flight.lost_packets = twin.sender().lost_packets();
  return flight;
}

}  // namespace

Flight fly(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed) {
  const auto controller =
      make_controller(scheme, {.packet_bytes = static_cast<int64_t>(kDataBytes), .seed = seed});
  const Time duration{static_cast<int64_t>(seconds * 1e9)};
  if (auto* policy = dynamic_cast<PolicyController*>(controller.get())) {
    return fly_controller(path, *policy, duration, seed);
  }
  return fly_controller(path, *controller, duration, seed);
}

}  // namespace ccgym
