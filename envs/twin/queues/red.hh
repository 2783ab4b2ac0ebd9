// RED (Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, ToN 1993; RFC 2309), by
// default gentle (Floyd 2000): between the thresholds of its mean length the queue drops some packets, or
// with `ecn` marks them; beyond them it drops all, whether they could be marked or not (RFC 3168, section 7).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"
#include "transport/random.hh"

namespace ccgym {

class Red final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "red";
  struct Parameters {
    double min_threshold_packets{};  // of the mean length
    double max_threshold_packets{};
    double max_probability{0.1};  // at the upper threshold
    double weight{0.002};         // of one arrival in the mean length
    bool gentle{true};            // from the upper threshold to twice that, ever more packets rather than all
    bool ecn{false};
  };
  static constexpr std::array kParameters{
      needed("min_threshold_packets", &Parameters::min_threshold_packets, 0, 1e6),
      needed("max_threshold_packets", &Parameters::max_threshold_packets, 1, 1e6),
      optional("max_probability", &Parameters::max_probability, 1e-6, 1),
      optional("weight", &Parameters::weight, 1e-6, 1),
      optional("gentle", &Parameters::gentle, 0, 1),
      optional("ecn", &Parameters::ecn, 0, 1)};

  // Throws std::invalid_argument when the thresholds leave no room between them.
  Red(const Parameters& parameters, const QueueSetting& setting);

  void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) override;
  void dequeue(int64_t now_ns, WaitingLine& line, LinkPacket& packet, DroppedPackets& dropped) override;
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<Red>(*this);
  }

  [[nodiscard]] double mean_packets() const { return mean_packets_; }

 private:
  void update_mean(int64_t now_ns, const WaitingLine& line);
  [[nodiscard]] double base_probability() const;
  [[nodiscard]] double drop_all_packets() const;
  bool selects(bool active);  // whether to drop or mark this packet; not `active`: the queue is short

  Parameters parameters_;
  double ns_per_packet_;
  Random random_;
  double mean_packets_{0};
  int64_t empty_since_ns_{0};
  int64_t packets_since_drop_{0};  // or mark: the paper's count
};

}  // namespace ccgym
