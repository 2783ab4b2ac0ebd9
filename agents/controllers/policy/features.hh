// What a policy sees: the observation built from one step's ACKs and losses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "transport/congestion_controller.hh"

namespace ccgym {

enum class FeatureSet {
  indigo,      // the nine inputs of Indigo (Pantheon paper, section 4.1)
  scale_free,  // ratios to min RTT, BDP and window, over several time scales
  aurora,      // latency gradient, latency ratio, send ratio of the last ten steps (ICML 2019, section 3.1)
};

inline constexpr std::array kFeatureSets{FeatureSet::indigo, FeatureSet::scale_free, FeatureSet::aurora};

FeatureSet feature_set_by_name(std::string_view name);  // throws std::invalid_argument naming the known ones
std::string_view feature_set_name(FeatureSet features);
std::span<const float> feature_divisors(FeatureSet features);  // one per entry of the observation

class Features {
 public:
  Features() = default;
  Features(const Features&) = default;
  Features& operator=(const Features&) = default;
  virtual ~Features() = default;

  virtual void on_ack(Time now, const AckedPacket& packet) = 0;
  virtual void on_loss(const Loss& loss) = 0;
  virtual void on_action(float action) = 0;
  // Writes the observation of the step that ends now, already divided, and begins the next step.
  virtual void observe(Time now, double cwnd_packets, std::span<float> observation) = 0;
};

std::unique_ptr<Features> make_features(FeatureSet features, int64_t packet_bytes);

}  // namespace ccgym
