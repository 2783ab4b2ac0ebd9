// PIE (Pan et al.: A Lightweight Control Scheme to Address the Bufferbloat Problem, HPSR 2013; RFC 8033)
// with mahimahi's constants and its arithmetic in whole milliseconds and bytes per millisecond. With `ecn`,
// packets are marked instead, as long as few are (RFC 8033, section 5.1).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"
#include "transport/random.hh"

namespace ccgym {

class Pie final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "pie";
  struct Parameters {
    int64_t qdelay_ref_ms{};
    int64_t max_burst_ms{};
    bool ecn{false};
  };
  static constexpr std::array kParameters{needed("qdelay_ref_ms", &Parameters::qdelay_ref_ms, 1, 60'000),
                                          needed("max_burst_ms", &Parameters::max_burst_ms, 1, 60'000),
                                          optional("ecn", &Parameters::ecn, 0, 1)};

  Pie(const Parameters& parameters, const QueueSetting& setting)
      : parameters_(parameters), random_(setting.seed) {}

  void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) override;
  void dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& packet, DroppedPackets& dropped) override;
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<Pie>(*this);
  }

 private:
  bool drops_early(int64_t waiting_bytes);
  void measure(int64_t now_ms, int64_t taken_bytes, int64_t waiting_bytes);
  void update(int64_t now_ms, int64_t waiting_bytes);
  void adjust_probability(int64_t waiting_bytes);
  void reset_when_idle();

  Parameters parameters_;
  Random random_;
  double probability_{0};          // of a drop or mark
  int64_t burst_allowance_ms_{0};  // for so long nothing is dropped early
  int64_t delay_ms_{0};            // of the queue, estimated at the last update
  int64_t previous_delay_ms_{0};   // at the update before
  int64_t bytes_per_ms_{0};        // drain rate; 0: not known
  int64_t last_update_ms_{0};
  bool measuring_{false};
  int64_t measured_since_ms_{0};
  int64_t measured_bytes_{0};
};

}  // namespace ccgym
