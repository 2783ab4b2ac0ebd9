#include "agents/policy/indigo_features.hh"

namespace ccgym {

void IndigoFeatures::observe(Time /*now*/, const OwnState& own, std::span<float> observation) {
  const std::array<double, 4> raw{ewmas_.queueing_ms, ewmas_.delivery_mbps, ewmas_.sending_mbps,
                                  own.cwnd_packets};
  ewmas_ = {};
  has_sample_ = false;
  for (std::size_t i = 0; i < raw.size(); ++i) observation[i] = static_cast<float>(raw[i]) / kDivisors[i];
  for (std::size_t action = 0; action < kActions; ++action) {
    observation[raw.size() + action] = static_cast<float>(action) == previous_action_ ? 1.0F : 0.0F;
  }
}

}  // namespace ccgym
