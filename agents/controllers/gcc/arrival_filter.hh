// Arrival-time filter of Google Congestion Control (draft-ietf-rmcat-gcc-02, sections 5.1 to 5.3): from the
// times at which groups of packets left and arrived, an estimate of how the queuing delay changes.
#pragma once

#include <array>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class ArrivalFilter {
 public:
  // An estimate after each complete group of packets.
  struct Estimate {
    Time arrived_at{};     // receiver clock: differences only
    double gradient_ms{};  // m(i)
    int groups{};          // so far
  };

  std::optional<Estimate> add(Time sent_at, Time received_at);

  // Section 5.3: the Kalman filter's step for one inter-group delay variation d(i), in ms, of groups that
  // left so many ms apart.
  double update(double variation_ms, double send_gap_ms);

 private:
  struct Group {
    Time first_sent_at{};
    Time last_sent_at{};
    Time last_received_at{};
  };

  static constexpr std::size_t kRecentGroups = 60;  // K: WebRTC's, the draft leaves it open

  [[nodiscard]] bool belongs(Time sent_at, Time received_at) const;
  std::optional<Estimate> close(const Group& group);

  std::optional<Group> current_{};
  std::optional<Group> previous_{};
  int groups_{0};
  double gradient_ms_{0};       // m_hat
  double noise_variance_{1};    // var_v_hat
  double error_variance_{0.1};  // e
  std::array<double, kRecentGroups> group_rates_hz_{};
  std::size_t updates_{0};
};

}  // namespace ccgym
