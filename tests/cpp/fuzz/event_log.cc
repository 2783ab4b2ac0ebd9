#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "envs/logs/event_parser.hh"
#include "tests/cpp/fuzz/parser_checks.hh"

namespace ccgym::fuzz {

namespace {

const EventLayouts kLayouts{{'#', "dkx"}, {'+', "dknn"}, {'-', "dkndn"}, {'s', "nkisi"}};

struct Outcome {
  std::string refusal{};
  int64_t backwards{};
  std::vector<EventColumn> columns{};

  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view text, std::size_t piece, EventParser::Order order) {
  EventParser parser{kLayouts, order, 1};
  Outcome outcome;
  try {
    for (std::size_t begin = 0; begin < text.size(); begin += piece) parser.feed(text.substr(begin, piece));
    parser.finish();
  } catch (const std::invalid_argument& error) {
    outcome.refusal = error.what();
  }
  outcome.backwards = parser.backwards();
  for (const auto& [kind, layout] : kLayouts)
    for (std::size_t field = 0; field < layout.size(); ++field)
      outcome.columns.push_back(parser.take(kind, field));
  return outcome;
}

}  // namespace

void check_event_log(std::span<const std::byte> bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  for (const auto order : {EventParser::Order::kept, EventParser::Order::any}) {
    const Outcome whole = read(text, text.size() + 1, order);
    for (const std::size_t piece : {1, 7, 64})
      if (!(read(text, piece, order) == whole)) std::abort();
    if (!std::ranges::all_of(whole.refusal, [](char letter) { return letter >= ' ' && letter <= '~'; }))
      std::abort();
  }
}

}  // namespace ccgym::fuzz
