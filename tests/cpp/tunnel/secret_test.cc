#include "tunnel/secret.hh"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {
namespace {

class SecretFile : public testing::Test {
 protected:
  void write(std::size_t bytes, char content = 'x') {
    std::ofstream{path_} << std::string(bytes, content);
    chmod(path_.c_str(), 0600);
  }

  std::filesystem::path path_ = testing::TempDir() + "ccgym-secret-" + std::to_string(getpid());
  ~SecretFile() override { std::filesystem::remove(path_); }
};

TEST_F(SecretFile, IsMadeForItsOwnerOnlyAndNeverOverwritten) {
  make_secret(path_);
  struct stat status{};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(status.st_size, 65);
  const Key key = read_secret(path_);
  EXPECT_THROW(make_secret(path_), InputError);
  EXPECT_EQ(read_secret(path_), key);
}

TEST_F(SecretFile, EachIsAnother) {
  make_secret(path_);
  const Key first = read_secret(path_);
  std::filesystem::remove(path_);
  make_secret(path_);
  EXPECT_NE(read_secret(path_), first);
}

TEST_F(SecretFile, IsRefusedWhenOthersMayUseIt) {
  write(32);
  EXPECT_NO_THROW(read_secret(path_));
  for (const unsigned mode : {0640U, 0604U, 0620U, 0602U, 0610U}) {
    chmod(path_.c_str(), mode);
    EXPECT_THROW(read_secret(path_), InputError) << std::oct << mode;
  }
}

TEST_F(SecretFile, IsRefusedTooShortTooLongOrAbsent) {
  EXPECT_THROW(read_secret(path_), InputError);
  write(31);
  EXPECT_THROW(read_secret(path_), InputError);
  write(4096);
  EXPECT_NO_THROW(read_secret(path_));
  write(4097);
  EXPECT_THROW(read_secret(path_), InputError);
  EXPECT_THROW(read_secret(testing::TempDir()), InputError);
  EXPECT_THROW(read_secret("/dev/zero"), InputError);
}

}  // namespace
}  // namespace ccgym::tunnel
