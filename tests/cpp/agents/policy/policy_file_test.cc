#include "agents/policy/policy_file.hh"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

namespace ccgym {
namespace {

// A policy file with one hidden unit, every weight 0.5. Errors in files are tested from Python.
std::string valid_file() {
  const std::string metadata =
      R"({\"format_version\":1,\"architecture\":{\"kind\":\"lstm\",\"inputs\":9,\"hidden\":1,\"outputs\":5},)"
      R"(\"feature_set\":\"indigo\",\"normalisers\":[200,200,200,5000,1,1,1,1,1],\"actions\":\"indigo\",)"
      R"(\"step_ms\":20,\"initial_cwnd\":12,\"limits\":{\"min_cwnd_packets\":3,\"max_cwnd_packets\":400},)"
      R"(\"trained_on\":\"nothing\",\"git\":\"\"})";
  const std::string header = R"({"__metadata__":{"ccgym":")" + metadata +
                             R"("},"lstm.weight_ih_l0":{"dtype":"F32","shape":[4,9],"data_offsets":[0,144]},)"
                             R"("lstm.weight_hh_l0":{"dtype":"F32","shape":[4,1],"data_offsets":[144,160]},)"
                             R"("lstm.bias_ih_l0":{"dtype":"F32","shape":[4],"data_offsets":[160,176]},)"
                             R"("lstm.bias_hh_l0":{"dtype":"F32","shape":[4],"data_offsets":[176,192]},)"
                             R"("linear.weight":{"dtype":"F32","shape":[5,1],"data_offsets":[192,212]},)"
                             R"("linear.bias":{"dtype":"F32","shape":[5],"data_offsets":[212,232]}})";
  std::string bytes;
  for (std::size_t length = header.size(), i = 0; i < 8; ++i, length /= 256)
    bytes += static_cast<char>(length % 256);
  bytes += header;
  for (int i = 0; i < 58; ++i) bytes += std::string{"\x00\x00\x00\x3f", 4};  // 0.5f
  return bytes;
}

class PolicyFileTest : public testing::Test {
 protected:
  PolicyFileTest() = default;
  PolicyFileTest(const PolicyFileTest&) = delete;
  PolicyFileTest& operator=(const PolicyFileTest&) = delete;
  ~PolicyFileTest() override { std::filesystem::remove(file_); }

  // The error of load_policy for a file of these bytes; empty if there is none.
  std::string refusal(const std::string& bytes) {
    std::ofstream{file_, std::ios::binary} << bytes;
    try {
      load_policy(file_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path file_{std::filesystem::temp_directory_path() /
                              ("ccgym_policy_file_test_" + std::to_string(getpid()))};
};

TEST_F(PolicyFileTest, CarriesTheSpecAndTheWeights) {
  ASSERT_EQ(refusal(valid_file()), "");
  PolicyFile policy = load_policy(file_);
  EXPECT_EQ(policy.spec.feature_set, FeatureSet::indigo);
  EXPECT_EQ(policy.spec.actions, ActionSet::indigo);
  EXPECT_EQ(policy.spec.step, std::chrono::milliseconds{20});
  EXPECT_EQ(policy.spec.initial_cwnd_packets, 12);
  EXPECT_EQ(policy.spec.min_cwnd_packets, 3);
  EXPECT_EQ(policy.spec.max_cwnd_packets, 400);
  // Every gate is 9 * 0.5 * 0 + 0.5 + 0.5 = 1: c = s(1) tanh(1), outputs 0.5 s(1) tanh(c) + 0.5.
  const double sigmoid_of_one = 1 / (1 + std::exp(-1));
  const double right = 0.5 * sigmoid_of_one * std::tanh(sigmoid_of_one * std::tanh(1)) + 0.5;
  for (const float output : policy.network->step(std::vector<float>(9))) EXPECT_NEAR(output, right, 1e-6);
}

TEST_F(PolicyFileTest, RefusesEveryTruncation) {
  const std::string bytes = valid_file();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string said = refusal(bytes.substr(0, size));
    ASSERT_TRUE(said.starts_with(file_.string() + ": truncated")) << size << ": " << said;
    ASSERT_EQ(said.find('\n'), std::string::npos);
  }
}

TEST_F(PolicyFileTest, TakesOrRefusesButNeverBreaksOnDamagedBytes) {
  const std::string bytes = valid_file();
  std::mt19937 random{11};
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    for (unsigned flips = random() % 3 + 1; flips > 0; --flips) {
      damaged[random() % (bytes.size() - 232)] = static_cast<char>(random() % 256);
    }
    const std::string said = refusal(damaged);
    if (said.empty()) continue;
    ++refused;
    ASSERT_TRUE(said.starts_with(file_.string() + ": ")) << said;
    ASSERT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_GT(refused, 250);
}

}  // namespace
}  // namespace ccgym
