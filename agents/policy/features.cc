#include "agents/policy/features.hh"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "agents/policy/json_checks.hh"
#include "transport/name_list.hh"

namespace ccgym {

FeatureSet feature_set_by_name(std::string_view name) {
  const auto found = std::ranges::find(kFeatureSets, name, feature_set_name);
  if (found != kFeatureSets.end()) return *found;
  throw std::invalid_argument("unknown feature set " + quoted(name) + ": known are " +
                              name_list(kFeatureSets, feature_set_name));
}

std::string_view feature_set_name(FeatureSet features) {
  switch (features) {
    case FeatureSet::indigo:
      return "indigo";
    case FeatureSet::scale_free:
      return "scale_free";
    case FeatureSet::aurora:
      return "aurora";
    case FeatureSet::raw:
      return "raw";
  }
  throw std::logic_error("a feature set without a name");
}

std::span<const float> feature_divisors(FeatureSet features) {
  switch (features) {
    case FeatureSet::indigo:
      return IndigoFeatures::kDivisors;
    case FeatureSet::scale_free:
      return ScaleFreeFeatures::kDivisors;
    case FeatureSet::aurora:
      return AuroraFeatures::kDivisors;
    case FeatureSet::raw:
      return RawFeatures::kDivisors;
  }
  throw std::logic_error("a feature set without divisors");
}

Features::Features(FeatureSet features, int64_t packet_bytes, double preference)
    : set_(make_set(features, packet_bytes, preference)) {}

Features::Set Features::make_set(FeatureSet features, int64_t packet_bytes, double preference) {
  switch (features) {
    case FeatureSet::indigo:
      return IndigoFeatures{};
    case FeatureSet::scale_free:
      return ScaleFreeFeatures{packet_bytes, preference};
    case FeatureSet::aurora:
      return AuroraFeatures{};
    case FeatureSet::raw:
      return RawFeatures{packet_bytes};
  }
  throw std::logic_error("a feature set without a maker");
}

bool holds_preference(FeatureSet features) { return features == FeatureSet::scale_free; }

}  // namespace ccgym
