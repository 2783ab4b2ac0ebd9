// Copa, after Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI
// 2018 (section and equation numbers are the paper's).
//
// Two rules are those of the authors' implementation (genericCC), with which the paper's figures were
// measured. The velocity doubles after every window that keeps its direction, where section 2.1 waits for
// three such windows. With that wait the queue empties too seldom on slow links: Copa flows mistake each
// other for buffer-filling flows, and fill the queue. A loss rate above 30 % over two RTTs reduces the
// window: by the paper's rules alone, a flow overloads a link whose buffer is too small for a measurable
// queueing delay.
#pragma once

#include "transport/congestion_controller.hh"
#include "transport/windowed_filter.hh"

namespace ccgym {

class Copa final : public CongestionController {
 public:
  struct Config {
    double delta{0.5};  // in the default mode, section 2.1
  };

  Copa(int64_t packet_bytes, const Config& config);

  [[nodiscard]] std::string_view name() const override { return "copa"; }
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Copa>(*this);
  }

  [[nodiscard]] double delta() const { return state_.delta; }
  [[nodiscard]] double velocity() const { return state_.velocity; }
  [[nodiscard]] bool competitive() const { return state_.competitive; }

 private:
  enum class Direction { up, down };
  struct State {
    double cwnd_packets{};
    double delta{};
    bool slow_start{true};
    bool competitive{false};
    double velocity{1};  // v: multiplies the step of the window
    Direction direction{Direction::up};
    int net_increases{0};  // increases less decreases of cwnd by the ACKs of this window
    Time window_began{};   // an ACK of a packet sent at this time or later ends the window
    bool lost_in_window{false};
    Time backed_off_at{};    // losses of packets sent before this time have been responded to
    Time nearly_empty_at{};  // when the queue was last nearly empty
  };

  struct Delays {          // at the last ACK
    double standing_ns{};  // RTTstanding
    double queueing_ns{};  // d_q
    double span_ns{};      // RTTmax - RTTmin
  };

  struct LossRateStart {  // where the present measurement of the loss rate began: time, totals of the flow
    Time time{};
    int64_t delivered_bytes{};
    int64_t lost_bytes{};
  };

  void note_losses(std::span<const LostPacket> lost);
  void observe(Time now, const RttStats& rtt);
  void update_mode(Time now, Time smoothed_rtt);
  void end_window(Time now, const AckEvent& ack);
  void update_velocity();
  void respond_to_heavy_losses(Time now, const AckEvent& ack);
  void update_delta(Time now);
  void update_cwnd();
  void update_limits();
  [[nodiscard]] double step_packets();
  [[nodiscard]] double headroom_ns() const;

  double packet_bytes_;
  double default_delta_;
  State state_;
  Delays delays_{};
  LossRateStart loss_rate_start_{};
  SendLimits limits_{};
  WindowedMin<Time> rtt_standing_{};
  WindowedMin<Time> rtt_min_{};
  WindowedMax<Time> rtt_max_{};
};

}  // namespace ccgym
