#include "agents/controllers/policy/features.hh"

#include <stdexcept>
#include <string>

#include "agents/controllers/policy/indigo_features.hh"
#include "agents/controllers/policy/scale_free_features.hh"

namespace ccgym {

FeatureSet feature_set_by_name(std::string_view name) {
  for (const FeatureSet known : {FeatureSet::indigo, FeatureSet::scale_free}) {
    if (feature_set_name(known) == name) return known;
  }
  throw std::invalid_argument("unknown feature set '" + std::string{name} +
                              "': known are indigo, scale_free");
}

std::string_view feature_set_name(FeatureSet features) {
  return features == FeatureSet::indigo ? "indigo" : "scale_free";
}

std::span<const float> feature_divisors(FeatureSet features) {
  if (features == FeatureSet::indigo) return IndigoFeatures::kDivisors;
  return ScaleFreeFeatures::kDivisors;
}

std::unique_ptr<Features> make_features(FeatureSet features, int64_t packet_bytes, double preference) {
  if (features == FeatureSet::indigo) return std::make_unique<IndigoFeatures>();
  return std::make_unique<ScaleFreeFeatures>(packet_bytes, preference);
}

bool holds_preference(FeatureSet features) { return features == FeatureSet::scale_free; }

}  // namespace ccgym
