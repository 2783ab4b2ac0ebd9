// Arrival-time filter of Google Congestion Control (draft-ietf-rmcat-gcc-02, sections 5.1 to 5.3): estimates
// how the queuing delay changes from one group of packets to the next, from their send and arrival times.
#pragma once

#include <array>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

class ArrivalFilter {
 public:
  struct Estimate {
    Time arrived_at{};     // of the group's last packet; receiver's clock: only differences are meaningful
    double gradient_ms{};  // m(i): change of the queuing delay from the group before
    int groups{};          // number of this estimate, from 1
  };

  // To be called for each packet. Returns an estimate if the packet begins a group, of the group that it
  // completes.
  std::optional<Estimate> add(Time sent_at, Time received_at);

  // Section 5.3: one step of the Kalman filter. `variation_ms` is d(i), the inter-group delay variation of
  // two groups that were sent `send_gap_ms` apart. Returns the new m(i) in ms.
  double update(double variation_ms, double send_gap_ms);

 private:
  struct Group {
    Time first_sent_at{};
    Time last_sent_at{};
    Time last_received_at{};
  };

  static constexpr std::size_t kRecentGroups = 60;  // K: WebRTC's value, as the draft gives none

  [[nodiscard]] bool belongs(Time sent_at, Time received_at) const;
  std::optional<Estimate> close(const Group& group);

  std::optional<Group> current_{};
  std::optional<Group> previous_{};
  int groups_{0};
  double gradient_ms_{0};       // m_hat
  double noise_variance_{1};    // var_v_hat, ms^2
  double error_variance_{0.1};  // e, ms^2
  std::array<double, kRecentGroups> group_rates_hz_{};
  std::size_t updates_{0};
};

}  // namespace ccgym
