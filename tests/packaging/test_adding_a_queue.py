"""The page on adding a queue, followed to the letter in a copy of the tree."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = """#pragma once

#include <array>

#include "envs/twin/queues/discipline.hh"
#include "envs/twin/queues/parameters.hh"
#include "transport/random.hh"

namespace ccgym {

class EarlyDrop final : public QueueDiscipline {
 public:
  static constexpr std::string_view kName = "early_drop";
  struct Parameters {
    int64_t least_packets{};
  };
  static constexpr std::array kParameters{needed("least_packets", &Parameters::least_packets, 1, 60'000)};

  EarlyDrop(const Parameters& parameters, const QueueSetting& setting)
      : parameters_(parameters), random_(setting.seed) {}

  void enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) override;
  [[nodiscard]] std::unique_ptr<QueueDiscipline> clone() const override {
    return std::make_unique<EarlyDrop>(*this);
  }

 private:
  Parameters parameters_;
  Random random_;
};

}  // namespace ccgym
"""
SOURCE = """#include "envs/twin/queues/early_drop.hh"

namespace ccgym {

void EarlyDrop::enqueue(const LinkPacket& packet, WaitingLine& line, DroppedPackets& dropped) {
  const bool early = static_cast<int64_t>(line.packets()) >= parameters_.least_packets;
  if (early && random_.chance(0.5)) {
    dropped.push_back(packet);
  } else {
    QueueDiscipline::enqueue(packet, line, dropped);
  }
}

}  // namespace ccgym
"""
PROGRAM = """#include <cstdio>

#include "envs/twin/queues/queue_spec.hh"

int main() {
  using namespace ccgym;
  const auto queue = make_discipline(
      {.kind = "early_drop", .packets = 100, .bytes = 0, .parameters = {{"least_packets", 4}}}, {});
  WaitingLine line{100, 0};
  DroppedPackets dropped;
  for (int packet = 0; packet < 20; packet++) queue->enqueue({.bytes = 1504}, line, dropped);
  std::printf("%s %d", std::string{known_queues().back().name}.c_str(), dropped.empty() ? 0 : 1);
}
"""
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Weffc++", "-Werror", "-O0")


def test_one_file_pair_and_one_line_make_a_queue_of_the_twin(
    tmp_path: Path, core_libraries: list[Path]
) -> None:
    page = (ROOT / "docs" / "how_to" / "queue.md").read_text()
    assert "Files touched: four" in page
    pair, table, _ = re.findall(r"^\d\. `([^`]+)`", page, re.MULTILINE)
    for folder in ("transport", "envs/twin"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    header, source = (
        tmp_path / pair.replace("NAME.{hh,cc}", f"early_drop.{suffix}") for suffix in ("hh", "cc")
    )
    header.write_text(HEADER)
    source.write_text(SOURCE)
    text = (tmp_path / table).read_text()
    end_of_table = re.search(r"constexpr std::array kTable\{.*?\n(?=\};)", text, re.DOTALL)
    assert end_of_table
    grown = f"{text[: end_of_table.end()]}    row<EarlyDrop>(),\n{text[end_of_table.end() :]}"
    (tmp_path / table).write_text(f'#include "envs/twin/queues/early_drop.hh"\n{grown}')

    (tmp_path / "program.cc").write_text(PROGRAM)
    sources = [tmp_path / "program.cc", source, tmp_path / table, *core_libraries]
    command = ["c++", *FLAGS, "-I", tmp_path, *sources, "-pthread", "-o", tmp_path / "program"]
    subprocess.run(list(map(str, command)), check=True, timeout=300)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "early_drop 1"
