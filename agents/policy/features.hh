// The feature sets: the observation of a policy, built from one step's ACKs and losses.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "agents/policy/aurora_features.hh"
#include "agents/policy/indigo_features.hh"
#include "agents/policy/own_state.hh"
#include "agents/policy/raw_features.hh"
#include "agents/policy/scale_free_features.hh"
#include "transport/congestion_controller.hh"

namespace ccgym {

enum class FeatureSet {
  indigo,      // the nine inputs of Indigo (Pantheon paper, section 6)
  scale_free,  // ratios to min RTT, BDP and window, over several time scales
  aurora,      // latency gradient, latency ratio, send ratio of the last ten steps (ICML 2019, section 3.1)
  raw,         // unscaled measurements: the base for your own features
};

inline constexpr std::array kFeatureSets{FeatureSet::indigo, FeatureSet::scale_free, FeatureSet::aurora,
                                         FeatureSet::raw};

FeatureSet feature_set_by_name(std::string_view name);  // throws std::invalid_argument naming the known ones
std::string_view feature_set_name(FeatureSet features);
std::span<const float> feature_divisors(FeatureSet features);  // one per entry of the observation
bool holds_preference(FeatureSet features);

// One of the sets. No base class: for each ACK a virtual call would cost as much as everything else.
class Features {
 public:
  // `preference`: from low delay (0) to full throughput (1), for a feature set that holds it.
  Features(FeatureSet features, int64_t packet_bytes, double preference);

  void on_ack(Time now, const AckEvent& ack) {
    std::visit([&](auto& set) { set.on_ack(now, ack); }, set_);
  }
  void on_loss(std::span<const LostPacket> lost) {
    std::visit([&](auto& set) { set.on_loss(lost); }, set_);
  }
  void on_action(float action) {
    std::visit([&](auto& set) { set.on_action(action); }, set_);
  }
  // Writes the observation of the step that ends now, already divided, and begins the next step.
  void observe(Time now, const OwnState& own, std::span<float> observation) {
    std::visit([&](auto& set) { set.observe(now, own, observation); }, set_);
  }

 private:
  using Set = std::variant<IndigoFeatures, ScaleFreeFeatures, AuroraFeatures, RawFeatures>;

  static Set make_set(FeatureSet features, int64_t packet_bytes, double preference);

  Set set_;
};

}  // namespace ccgym
