#include "agents/controllers/make_controller.hh"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "agents/controllers/copa.hh"

namespace ccgym {
namespace {

std::string refusal(std::string_view scheme) {
  try {
    make_controller(scheme, {});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
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
  for (const char* bad :
       {"fixed", "fixed:", "fixed:0", "fixed:-3", "fixed:4x", "fixed:nan", "fixed:inf", "fixed:1e99"}) {
    EXPECT_NE(refusal(bad).find("is not a window in packets, 1 to 1e6, as in fixed:40"), std::string::npos)
        << bad;
  }
  for (const char* bad : {"copa:x", "copa:0", "copa:-1", "copa:nan", "copa:0.5:1"}) {
    EXPECT_NE(refusal(bad).find("as in copa:0.5"), std::string::npos) << bad;
  }
  EXPECT_EQ(refusal("reno:1"), "scheme reno: argument '1' is one too many, reno takes none");
  EXPECT_NE(refusal("verus:0").find("as in verus:2"), std::string::npos);
  EXPECT_NE(refusal("rate:0").find("as in rate:12"), std::string::npos);
  EXPECT_EQ(refusal("vivace:x"), "scheme vivace: argument 'x' is unknown, vivace takes none or loss");
  EXPECT_NE(refusal("policy").find("as in policy:"), std::string::npos);
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
