// Replays the corpus of the fuzzer, which `make fuzz` extends.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {
namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& file) {
  std::vector<std::byte> bytes(std::filesystem::file_size(file));
  std::ifstream{file, std::ios::binary}.read(reinterpret_cast<char*>(bytes.data()),
                                             static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

template <class Check>
int replay(const char* folder, Check check) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{std::filesystem::path{CCGYM_CORPUS} / folder}) {
    SCOPED_TRACE(entry.path());
    check(bytes_of(entry.path()));
    ++files;
  }
  return files;
}

TEST(FuzzCorpus, OfTheTunnelHolds) { EXPECT_GT(replay("tunnel_datagram", check_tunnel_datagram), 5); }

TEST(FuzzCorpus, OfTheEndpointHolds) { EXPECT_GT(replay("endpoint_datagram", check_endpoint_datagram), 5); }

TEST(FuzzCorpus, OfPolicyFilesHolds) { EXPECT_GT(replay("policy_file", check_policy_file), 5); }

TEST(FuzzCorpus, OfRuleTablesHolds) { EXPECT_GT(replay("remy_table", check_remy_table), 5); }

TEST(FuzzCorpus, OfEventLogsHolds) { EXPECT_GT(replay("event_log", check_event_log), 5); }

TEST(FuzzCorpus, OfSchemeNamesHolds) { EXPECT_GT(replay("scheme_name", check_scheme_name), 5); }

}  // namespace
}  // namespace ccgym::fuzz
