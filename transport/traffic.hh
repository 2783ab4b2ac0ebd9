// What the application has to send: data without end, a number of packets, data in on and off periods, or
// answers to requests.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "transport/random.hh"
#include "transport/units.hh"

namespace ccgym {

struct TrafficSpec {
  int64_t packets{0};  // of the flow, or of each answer; 0: without end
  Time mean_on{};      // spells with and without data, of exponential length; 0: all the time
  Time mean_off{};
  std::optional<Time>
      mean_think{};  // exponential, from an answer's arrival to the next request; absent: one answer
};

// Returns `spec`; throws std::invalid_argument for mean periods below a millisecond, with which time would
// not advance, and for answers without a size.
TrafficSpec checked(const TrafficSpec& spec);

// Alternates between spells with and without data, each of exponential length; it begins with data.
class OnOffSpells {
 public:
  OnOffSpells(Time mean_on, Time mean_off, Random random);

  [[nodiscard]] bool on(Time now);  // `now` never decreases
  [[nodiscard]] Time ends_at() const { return end_; }

 private:
  [[nodiscard]] Time draw(Time mean);

  Time mean_on_;
  Time mean_off_;
  Random random_;
  bool on_{true};
  Time end_;
};

// One application. Lost packets are sent again.
class Traffic {
 public:
  Traffic() = default;
  Traffic(const TrafficSpec& spec, uint64_t seed);

  // Neither ends nor pauses: `offers` need not be called.
  [[nodiscard]] bool endless() const { return packets_ == kEndless && !spells_; }

  // Whether one more packet may leave, with so many delivered and so many in flight.
  [[nodiscard]] bool offers(Time now, int64_t delivered_packets, int64_t inflight_packets);

  // `delivered_packets` of the flow have arrived by now.
  void on_delivered(Time now, int64_t delivered_packets);

  [[nodiscard]] bool finished() const { return finished_; }

  // When an application that offers nothing now may offer again; nullopt: only an ACK can change it.
  [[nodiscard]] std::optional<Time> next_change() const;

  // How long the flow took, or each answer, from the first chance to send to the last packet's ACK.
  [[nodiscard]] const std::vector<Time>& completion_times() const { return completion_times_; }

 private:
  static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

  int64_t packets_{kEndless};  // of each answer
  std::optional<OnOffSpells> spells_{};
  std::optional<Time> mean_think_{};
  Random random_{0};
  int64_t packets_in_all_{kEndless};  // with the present answer
  Time began_{};                      // the present answer
  Time asked_at_{};                   // the last call of `offers`
  bool in_spell_{true};
  bool finished_{false};
  std::vector<Time> completion_times_{};
};

}  // namespace ccgym
