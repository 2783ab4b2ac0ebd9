// Models of the application's data: unlimited, a number of packets, alternating on and off periods, or
// responses to requests.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "transport/random.hh"
#include "transport/units.hh"

namespace ccgym {

struct TrafficSpec {
  int64_t packets{0};  // of the flow, or of each response; 0: unlimited
  // Means of the exponentially distributed periods with and without data; both 0: always data.
  Time mean_on{};
  Time mean_off{};
  // Mean of the exponentially distributed think time, from the ACK of a whole response to the next request;
  // absent: a single response.
  std::optional<Time> mean_think{};
};

// Returns `spec`. Throws std::invalid_argument for mean periods below a millisecond, because a run would
// consist of changes alone, and for responses without a size.
TrafficSpec checked(const TrafficSpec& spec);

// Alternates between exponentially distributed periods with and without data, beginning with data.
class OnOffPeriods {
 public:
  OnOffPeriods(Time mean_on, Time mean_off, Random random);

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

// The application of one flow. Lost packets are sent again.
class Traffic {
 public:
  Traffic() = default;
  Traffic(const TrafficSpec& spec, uint64_t seed);

  // Whether there is always data, so that `offers` need not be called.
  [[nodiscard]] bool endless() const { return packets_ == kEndless && !periods_; }

  // Whether there is data for one more packet, if so many packets of the flow are delivered and in flight.
  [[nodiscard]] bool offers(Time now, int64_t delivered_packets, int64_t inflight_packets);

  // `delivered_packets`: total of the flow.
  void on_delivered(Time now, int64_t delivered_packets);

  [[nodiscard]] bool finished() const { return finished_; }

  // When an application without data may have data again; nullopt if only an ACK can change that.
  [[nodiscard]] std::optional<Time> next_change() const;

  // The duration of the flow, or of each response, from when its first packet may leave to the ACK of its
  // last one.
  [[nodiscard]] const std::vector<Time>& completion_times() const { return completion_times_; }

 private:
  static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

  int64_t packets_{kEndless};  // of each response
  std::optional<OnOffPeriods> periods_{};
  std::optional<Time> mean_think_{};
  Random random_{0};
  int64_t total_packets_{kEndless};  // of the flow, including the present response
  Time began_{};                     // of the present response
  Time asked_at_{};                  // time of the last call of `offers`
  bool is_on_{true};
  bool finished_{false};
  std::vector<Time> completion_times_{};
};

}  // namespace ccgym
