#include "tunnel/counts.hh"

#include <array>
#include <utility>

namespace ccgym::tunnel {

std::string Counts::to_string() const {
  std::string text =
      std::to_string(sent) + " packets sent, " + std::to_string(received) + " received; dropped:";
  const std::array<std::pair<uint64_t, const char*>, 6> dropped{{{strangers, "strangers'"},
                                                                 {altered, "altered"},
                                                                 {replayed, "replayed"},
                                                                 {malformed, "malformed"},
                                                                 {oversized, "oversized"},
                                                                 {undeliverable, "undeliverable"}}};
  const char* separator = " ";
  for (const auto& [count, kind] : dropped) {
    text += separator + std::to_string(count) + " " + kind;
    separator = ", ";
  }
  return text;
}

}  // namespace ccgym::tunnel
