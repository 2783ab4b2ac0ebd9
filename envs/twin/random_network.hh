// A network with losses, reordering, marks, silences and idle times, on which controllers are checked.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "transport/cloned.hh"
#include "transport/sender.hh"
#include "transport/traffic.hh"

namespace ccgym {

// 16 Mbit/s with a queue of 100 ms, whose later half marks packets of flows that use ECN. It loses one packet
// in twenty, delays and reorders the rest at random, acknowledges some of them together, and is silent for
// two seconds in ten. The application pauses now and then.
class RandomNetwork {
 public:
  static constexpr int64_t kPacketBytes = 1000;

  RandomNetwork(std::unique_ptr<CongestionController> controller, unsigned seed)
      : controller_{std::move(controller)}, sender_{*controller_, kPacketBytes}, random_{seed} {}
  RandomNetwork(const RandomNetwork& other)
      : controller_{other.controller_},
        sender_{other.sender_},
        random_{other.random_},
        traffic_{other.traffic_},
        now_{other.now_},
        link_free_at_{other.link_free_at_},
        ce_count_{other.ce_count_},
        acks_{other.acks_} {
    sender_.relink(*controller_);
  }
  RandomNetwork& operator=(const RandomNetwork&) = delete;
  ~RandomNetwork() = default;

  // Runs the next event. Returns false if there is none: the sender would wait for ever.
  bool step() {
    const Time send = next_departure();
    const Time timer = sender_.next_timer().value_or(Time::max());
    const Time ack = acks_.empty() ? Time::max() : acks_.begin()->first;
    const Time next = std::min({send, timer, ack});
    if (next == Time::max()) return false;
    now_ = std::max(now_, next);
    if (ack == next) {
      acknowledge();
    } else if (timer == next) {
      sender_.on_timer(now_);
    } else if (may_send()) {
      send_packet();
    }
    return true;
  }

  [[nodiscard]] const CongestionController& controller() const { return *controller_; }
  [[nodiscard]] SendLimits limits() const { return controller_->limits(); }
  [[nodiscard]] int64_t delivered_packets() const { return sender_.delivered_packets(); }
  [[nodiscard]] Time now() const { return now_; }

 private:
  Time next_departure() {
    const std::optional<Time> send = sender_.next_send(now_);
    if (!send) return Time::max();
    return may_send() ? *send : traffic_.next_change().value_or(Time::max());
  }

  bool may_send() {
    if (sender_.owes_probe() || traffic_.offers(now_, 0, 0)) return true;
    sender_.on_app_limited();
    return false;
  }

  // One time in two, all arrivals of two milliseconds share one ACK.
  void acknowledge() {
    std::vector<Arrival> arrivals;
    const Time until = random_() % 2 == 0 ? now_ + std::chrono::milliseconds{2} : now_;
    while (!acks_.empty() && acks_.begin()->first <= until) {
      arrivals.push_back({acks_.begin()->second, now_});
      acks_.erase(acks_.begin());
    }
    std::ranges::sort(arrivals, {}, &Arrival::seq);
    sender_.on_ack(now_, arrivals, ce_count_);
  }

  void send_packet() {
    const uint64_t seq = sender_.on_sent(now_);
    const bool silent = now_ % std::chrono::seconds{10} > std::chrono::seconds{8};
    const bool full = link_free_at_ > now_ + std::chrono::milliseconds{100};
    if (silent || full || random_() % 20 == 0) return;
    if (controller_->wants_ecn() && link_free_at_ > now_ + std::chrono::milliseconds{50}) ++ce_count_;
    link_free_at_ = std::max(link_free_at_, now_) + std::chrono::microseconds{500};
    acks_.emplace(
        link_free_at_ + std::chrono::milliseconds{40} + std::chrono::microseconds{random_() % 30'000}, seq);
  }

  Cloned<CongestionController> controller_;
  Sender<> sender_;
  std::mt19937 random_;
  Traffic traffic_{{.mean_on = std::chrono::milliseconds{1500}, .mean_off = std::chrono::milliseconds{300}},
                   1};
  Time now_{};
  Time link_free_at_{};
  uint16_t ce_count_{0};
  std::multimap<Time, uint64_t> acks_{};
};

}  // namespace ccgym
