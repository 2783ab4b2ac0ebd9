#include "agents/controllers/make_controller.hh"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "agents/controllers/copa.hh"
#include "agents/controllers/fixed_rate.hh"
#include "agents/controllers/fixed_window.hh"
#include "agents/controllers/verus/verus.hh"
#include "agents/policy/policy.hh"

namespace ccgym {
namespace {

std::string refusal_of(const auto& make) {
  try {
    make();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal(std::string_view scheme) {
  return refusal_of([&] { make_controller(scheme, {}); });
}

TEST(MakeController, MakesEverySchemeByItsName) {
  for (const Scheme& scheme : known_schemes()) {
    const bool needs_argument =
        scheme.name == "fixed" || scheme.name == "policy" || scheme.name == "rate" || scheme.name == "remy";
    if (needs_argument) continue;
    EXPECT_EQ(make_controller(scheme.name, {})->name(), scheme.name);
  }
  EXPECT_EQ(make_controller("fixed:40", {})->name(), "fixed");
  EXPECT_EQ(make_controller("rate:12", {})->name(), "rate");
}

TEST(MakeController, CountsTheWindowInPacketsOfTheConfiguredSize) {
  EXPECT_EQ(make_controller("fixed:40", {.packet_bytes = 1000})->limits().cwnd_bytes, 40'000);
  EXPECT_EQ(make_controller("fixed:1.5", {.packet_bytes = 1000})->limits().cwnd_bytes, 1500);
}

TEST(MakeController, HandsCopaItsDelta) {
  EXPECT_EQ(dynamic_cast<Copa&>(*make_controller("copa:0.1", {})).delta(), 0.1);
  EXPECT_EQ(dynamic_cast<Copa&>(*make_controller("copa", {})).delta(), 0.5);
}

TEST(MakeController, ListsTheKnownSchemesForAnUnknownName) {
  std::string known;
  for (const Scheme& scheme : known_schemes())
    known += (known.empty() ? "" : ", ") + std::string{scheme.name};
  EXPECT_NE(known.find("copa"), std::string::npos);
  EXPECT_EQ(refusal("cuba"), "unknown scheme 'cuba'; known: " + known);
  EXPECT_EQ(refusal(""), "unknown scheme ''; known: " + known);
}

TEST(MakeController, SaysWhatArgumentWouldBeRight) {
  for (const char* bad : {"fixed", "fixed:", "fixed:4x", "fixed:1e999"})
    EXPECT_NE(refusal(bad).find("is not a window in packets, as in fixed:40"), std::string::npos) << bad;
  for (const char* bad : {"copa:x", "copa:0.5:1"})
    EXPECT_NE(refusal(bad).find("as in copa:0.5"), std::string::npos) << bad;
  EXPECT_EQ(refusal("reno:1"), "scheme reno: argument '1' is one too many, reno takes none");
  EXPECT_NE(refusal("verus:x").find("as in verus:2"), std::string::npos);
  EXPECT_NE(refusal("rate:").find("as in rate:12"), std::string::npos);
  EXPECT_EQ(refusal("vivace:x"), "scheme vivace: argument 'x' is unknown, vivace takes none or loss");
  EXPECT_NE(refusal("policy").find("as in policy:"), std::string::npos);
}

// As text, and from C++.
TEST(MakeController, RefusesWhatIsOutOfRangeInTheSameWords) {
  constexpr int64_t kBytes = 1000;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal("copa:-1"), "copa: delta is -1, should be from 1e-06 to 1000");
  EXPECT_EQ(refusal_of([] { Copa(kBytes, {.delta = -1}); }), refusal("copa:-1"));
  EXPECT_EQ(refusal_of([&] { Copa(kBytes, {.delta = nan}); }), refusal("copa:nan"));
  EXPECT_EQ(refusal("fixed:0"), "fixed: cwnd_packets is 0, should be from 1 to 1e+06");
  EXPECT_EQ(refusal_of([] { FixedWindow(kBytes, {}); }), refusal("fixed:0"));
  EXPECT_EQ(refusal_of([] { FixedWindow(kBytes, {.cwnd_packets = 1e99}); }), refusal("fixed:1e99"));
  EXPECT_EQ(refusal("rate:0"), "rate: rate_mbps is 0, should be from 0.011488 to 100000");
  EXPECT_EQ(refusal_of([] { FixedRate(kBytes, {}); }),
            "rate: rate_mbps is 0, should be from 0.008 to 100000");
  EXPECT_EQ(refusal("verus:0.5"), "verus: delay_ratio is 0.5, should be from 1 to 1000");
  EXPECT_EQ(refusal_of([] { Verus(kBytes, {.delay_ratio = 0.5}); }), refusal("verus:0.5"));
}

TEST(MakeController, AddsAPreferenceToAPolicyThatHasOne) {
  const PolicySpec spec{.feature_set = FeatureSet::scale_free};
  EXPECT_EQ(with_preference(spec, 0.7).preference, 0.7);
  const std::string right = ", should be from 0, low delay, to 1, full throughput";
  EXPECT_EQ(refusal_of([&] { with_preference(spec, 7); }), "policy: preference is 7.000000" + right);
  EXPECT_EQ(refusal_of([] { PolicyController({.preference = 7}, {}); }),
            "policy: preference is 7.000000" + right);
  EXPECT_EQ(refusal_of([] { with_preference({.feature_set = FeatureSet::indigo}, 0.7); }),
            "policy: preference is 0.700000, should be left out: this policy has no preference");
}

TEST(MakeController, NamesThePolicyFileThatIsNotThere) {
  try {
    make_controller("policy:/nowhere/policy.safetensors", {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string{error.what()},
              "/nowhere/policy.safetensors: cannot be read: No such file or directory");
  }
}

}  // namespace
}  // namespace ccgym
