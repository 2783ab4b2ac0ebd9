#include "agents/policy/regular_file.hh"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace ccgym {

namespace {

class RegularFile : public testing::Test {
 protected:
  RegularFile() { std::filesystem::create_directory(folder_); }
  ~RegularFile() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  static std::string refusal(const std::filesystem::path& file) {
    try {
      read_regular_file(file, "a table", 1 << 20);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::filesystem::path folder_{testing::TempDir() + "regular_file_" + std::to_string(getpid())};
};

TEST_F(RegularFile, IsReadAsItIs) {
  const std::string bytes{"a\0b\r\n", 5};
  std::ofstream{folder() / "file", std::ios::binary} << bytes;
  EXPECT_EQ(read_regular_file(folder() / "file", "a table", 5), bytes);
  std::ofstream{folder() / "empty"};
  EXPECT_EQ(read_regular_file(folder() / "empty", "a table", 5), "");
}

TEST_F(RegularFile, WhatMayNeverEndIsRefused) {
  ASSERT_EQ(mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder() / "pipe"), "is no regular file, should be a table");
  EXPECT_EQ(refusal("/dev/zero"), "is no regular file, should be a table");
  EXPECT_EQ(refusal(folder()), "is a folder, should be a table");
}

TEST_F(RegularFile, WhatIsNotThereOrTooLargeIsRefused) {
  EXPECT_EQ(refusal(folder() / "none"), "cannot be read: No such file or directory");
  std::ofstream{folder() / "large"};
  std::filesystem::resize_file(folder() / "large", (1 << 20) + 1);
  EXPECT_EQ(refusal(folder() / "large"), "has more than 1 MB");
}

}  // namespace

}  // namespace ccgym
