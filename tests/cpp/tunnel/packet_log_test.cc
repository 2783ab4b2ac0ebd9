#include "tunnel/packet_log.hh"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deploy/endpoint/errors.hh"
#include "tunnel/log_format.hh"

namespace ccgym::tunnel {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

std::string line_of(Time elapsed, uint64_t uid, std::size_t bytes) {
  std::array<char, kMaxLogLineCharacters> line{};
  return {line.data(), write_log_line(line, elapsed, uid, bytes)};
}

class PacketLogFile : public testing::Test {
 protected:
  std::string text() const {
    std::ifstream file{path_};
    return (std::ostringstream{} << file.rdbuf()).str();
  }

  std::string path_ = testing::TempDir() + "ccgym-packet-log-" + std::to_string(getpid());
  ~PacketLogFile() override { std::filesystem::remove(path_); }
};

TEST(LogLine, HasMillisecondsWithThreeDecimals) {
  EXPECT_EQ(line_of(microseconds{1312159}, 0, 96), "1312.159 - 0 - 96\n");
  EXPECT_EQ(line_of(Time{999}, 7, 1500), "0.000 - 7 - 1500\n");
  EXPECT_EQ(line_of(microseconds{5}, 7, 36), "0.005 - 7 - 36\n");
  EXPECT_EQ(line_of(seconds{86400} + microseconds{70}, ~uint64_t{0}, 1),
            "86400000.070 - 18446744073709551615 - 1\n");
}

TEST(LogLine, TheLongestFits) {
  EXPECT_LE(line_of(Time::max(), ~uint64_t{0}, ~std::size_t{0}).size(), kMaxLogLineCharacters);
}

TEST(LogHead, IsOneLineThatEndsWithTheWallClock) {
  std::string program = "ccgym-tunnel", argument = "a\nb";
  const std::array<char*, 2> command{program.data(), argument.data()};
  EXPECT_EQ(log_head(command, "egress", microseconds{1795218894342121}),
            "# 'ccgym-tunnel' 'a b' egress: 1795218894342.121\n");
}

TEST_F(PacketLogFile, HoldsEveryRecordInOrder) {
  std::string expected = "# head\n";
  {
    PacketLog log{path_, create_log_file(path_), "# head\n"};
    for (uint64_t uid = 0; uid < 100'000; ++uid) {
      log.record(microseconds{uid}, uid, 1500);
      log.flush_due(microseconds{uid});
      expected += line_of(microseconds{uid}, uid, 1500);
    }
    EXPECT_EQ(log.finish(), "");
  }
  EXPECT_EQ(text(), expected);
}

TEST_F(PacketLogFile, IsWrittenWithinItsIntervalWhileItGoesOn) {
  PacketLog log{path_, create_log_file(path_), "# head\n"};
  log.record(seconds{1}, 1, 100);
  log.flush_due(seconds{1});
  EXPECT_EQ(log.next_flush(), Time::max());
  for (int i = 0; i < 1000 && text().size() < 8; ++i) usleep(1000);
  EXPECT_EQ(text(), "# head\n1000.000 - 1 - 100\n");
  log.record(seconds{1}, 2, 100);
  EXPECT_EQ(log.next_flush(), seconds{1} + PacketLog::kFlushInterval);
}

TEST_F(PacketLogFile, EndsWithAWholeLineWhereTheDiskIsFull) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead
  setrlimit(RLIMIT_FSIZE, &small);
  PacketLog log{path_, create_log_file(path_), "# head\n"};
  for (uint64_t uid = 0; uid < 100; ++uid) log.record(seconds{uid}, uid, 1500);
  const std::string failure = log.finish();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(failure.find(path_ + " ends early: "), std::string::npos) << failure;
  const std::string written = text();
  EXPECT_GT(written.size(), 900U);
  EXPECT_LE(written.size(), 1000U);
  EXPECT_EQ(written.back(), '\n');
}

TEST(CreateLogFile, NamesAFolderThatIsNotThere) {
  EXPECT_THROW(create_log_file("/no/such/folder/log"), InputError);
}

}  // namespace
}  // namespace ccgym::tunnel
