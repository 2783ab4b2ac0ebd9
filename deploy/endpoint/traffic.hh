// What the application has to send: as much as goes, so many packets, or now and then.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "transport/congestion_controller.hh"
#include "transport/random.hh"

namespace ccgym {

// Alternates between spells with and without data, each of exponential length; it begins with data.
class OnOffSpells {
 public:
  OnOffSpells(Time mean_on, Time mean_off, uint64_t seed);

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

// One application: full throttle unless a size or spells are given. What is lost is sent anew.
class Traffic {
 public:
  Traffic() = default;
  Traffic(std::optional<int64_t> packets, std::optional<OnOffSpells> spells)
      : packets_(packets.value_or(kEndless)), spells_(spells) {}

  // Whether one more packet may leave while so many have arrived and so many are under way.
  [[nodiscard]] bool offers(Time now, int64_t delivered_packets, int64_t inflight_packets);
  [[nodiscard]] bool finished(int64_t delivered_packets) const { return delivered_packets >= packets_; }

  // When an application that offers nothing now may offer again; nullopt: only an ACK can change it.
  [[nodiscard]] std::optional<Time> next_change() const;

 private:
  static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

  int64_t packets_{kEndless};
  std::optional<OnOffSpells> spells_{};
  bool in_spell_{true};
};

}  // namespace ccgym
