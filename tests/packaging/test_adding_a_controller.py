"""The page on adding a controller, followed to the letter in a copy of the tree."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "steady"
HEADER = """#pragma once

#include "transport/congestion_controller.hh"

namespace ccgym {

class Steady final : public CongestionController {
 public:
  explicit Steady(int64_t packet_bytes);

  [[nodiscard]] std::string_view name() const override { return "steady"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override { return {.cwnd_bytes = cwnd_bytes_}; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Steady>(*this);
  }

 private:
  int64_t packet_bytes_;
  int64_t cwnd_bytes_;
};

}  // namespace ccgym
"""
SOURCE = """#include "agents/controllers/steady.hh"

namespace ccgym {

Steady::Steady(int64_t packet_bytes) : packet_bytes_{packet_bytes}, cwnd_bytes_{10 * packet_bytes} {}
void Steady::on_ack(Time /*now*/, const AckEvent& ack) { cwnd_bytes_ += ack.acked_bytes(); }
void Steady::on_timeout(Time /*now*/, const Timeout& /*timeout*/) { cwnd_bytes_ = 10 * packet_bytes_; }

}  // namespace ccgym
"""
TEST = """#include "agents/controllers/make_controller.hh"

#include <gtest/gtest.h>

#include <array>

TEST(Steady, IsMadeByItsName) {
  const auto steady = ccgym::make_controller("steady", {.packet_bytes = 1000});
  const std::array acked{ccgym::AckedPacket{.bytes = 1000}};
  steady->on_ack({}, {.acked = acked});
  EXPECT_EQ(steady->limits().cwnd_bytes, 11'000);
  EXPECT_EQ(ccgym::known_schemes().back().name, "steady");
}
"""
INCLUDE = f'#include "agents/controllers/{NAME}.hh"\n'
LINE = f'    TableEntry{{{{"{NAME}", "this test", ""}}, make_plain<Steady>}},\n'
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Weffc++", "-Werror", "-O0")


def places_named_on_the_page() -> list[str]:
    """What the page has one write or edit, in its order."""
    page = (ROOT / "docs" / "how_to" / "controller.md").read_text()
    assert "Files touched: four." in page
    quoted = re.findall(r"^\d\. `((?:agents|tests)/[^`]+)`", page, re.MULTILINE)
    return [path.replace("NAME", NAME) for path in quoted]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("transport", "agents/controllers", "agents/companion", "agents/policy"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "tests/cpp/agents/controllers").mkdir(parents=True)
    return tmp_path


def test_one_file_pair_one_line_and_one_test_make_a_scheme(tree: Path, core_libraries: list[Path]) -> None:
    pair, table, test = places_named_on_the_page()
    assert pair == f"agents/controllers/{NAME}.{{hh,cc}}"
    header, source = (tree / pair.replace("{hh,cc}", suffix) for suffix in ("hh", "cc"))
    header.write_text(HEADER)
    source.write_text(SOURCE)
    text = (tree / table).read_text()
    head, end_of_table, tail = text.partition(
        "};\n\nstd::vector<std::pair<std::string, ControllerFactory>>& registered"
    )
    assert end_of_table
    (tree / table).write_text(head.replace("#include", INCLUDE + "#include", 1) + LINE + end_of_table + tail)
    (tree / test).write_text(TEST)

    sources = [str(tree / test), str(source), str(tree / table)]
    program = tree / "steady_test"
    libraries = [*core_libraries, "-lgtest_main", "-lgtest", "-pthread"]
    includes = ["-I", tree, "-isystem", ROOT / "third_party"]
    command = ["c++", *FLAGS, *includes, *sources, *libraries, "-o", program]
    subprocess.run(list(map(str, command)), check=True, timeout=300)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert "[  PASSED  ] 1 test" in done.stdout
