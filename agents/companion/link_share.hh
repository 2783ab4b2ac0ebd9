// What share of its bottleneck a flow has: its delivery rate beside the link's.
//
// The link's rate shows in packet trains (Jain and Routhier, 1986; Dovrolis, Ramanathan and Moore, INFOCOM
// 2001). Every few round trips the flow holds some packets back and then sends them at once. In a first-in
// first-out queue nobody comes between them: they arrive as fast as the link delivers, however many share it.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/congestion_controller.hh"

namespace ccgym {

inline constexpr double kAloneShare = 0.9;  // with more of the link there is nobody else

class LinkShare {
 public:
  // Whether `limit` or `in_train` is another from now on. `may_hold`: packets may be held back now.
  bool on_ack(Time now, const AckEvent& ack, double cwnd_packets, bool may_hold);

  [[nodiscard]] double limit(double cwnd_packets) const;  // what of a window may be used now
  [[nodiscard]] bool in_train() const { return phase_ == Phase::sending; }  // packets leave unpaced

  [[nodiscard]] std::optional<double> share() const;        // absent: too few trains so far
  [[nodiscard]] std::optional<double> early_share() const;  // after fewer, and less sure
  [[nodiscard]] double link_packets_per_ms() const;         // 0: unknown
  // Trains arrive now faster, now slower: the link's own rate varies, and a share of it means little.
  [[nodiscard]] bool irregular() const;
  // While a queue stands somebody else has a part of the link: a guess after few trains, ...
  [[nodiscard]] bool hints_at_others() const { return leaves_others(early_share()); }
  [[nodiscard]] bool shows_others() const { return leaves_others(share()); }  // ... and known after enough

 private:
  enum class Phase : uint8_t {
    waiting,   // for the time of the next train
    holding,   // packets back, until there are enough of them
    sending,   // them at once
    arriving,  // ACKs tell how fast they went
  };
  struct Train {
    Time sent_at{};
    int packets{0};
    Time first_arrival{};
    Time last_arrival{};
  };
  struct RateEstimate {  // packets over milliseconds; older ones count less
    double packets{0};
    double ms{0};

    void add(double more_packets, double more_ms, double remembered);
    [[nodiscard]] double packets_per_ms() const { return ms > 0 ? packets / ms : 0; }
  };

  struct Delivered {
    double packets{0};
    Time during{};

    [[nodiscard]] double packets_per_ms() const {
      return during > Time::zero() ? packets / in_ms(during) : 0;
    }
  };

  bool hold(Time now, double cwnd_packets);
  void note_delivered(Time now, const AckEvent& ack);
  void note_own_rate();
  bool let_go();
  bool send(Time now, double cwnd_packets, double inflight_packets);
  void note_arrivals(Time now, const AckEvent& ack);
  void close_train(Time now, const AckEvent& ack);
  void note_train();
  [[nodiscard]] std::optional<double> share_after(int trains) const;
  [[nodiscard]] bool leaves_others(std::optional<double> share) const;
  [[nodiscard]] bool of_train(const AckedPacket& packet) const;

  Phase phase_{Phase::waiting};
  Time next_at_{};
  std::optional<Time> waits_since_{};
  Time last_ack_at_{};     // of those while it waits
  Delivered waited_{};     // since then
  Delivered contended_{};  // the part of it in which a queue stood
  bool contends_{false};   // that part was enough to go by it alone
  double held_packets_{0};
  double most_packets_{0};  // in flight, until the train has left
  Train train_{};
  int trains_{0};
  int lost_trains_{0};        // in a row
  double odd_trains_{0};      // older ones count less
  RateEstimate link_{};       // within trains
  double counted_trains_{0};  // in it
  RateEstimate own_{};        // between them
};

}  // namespace ccgym
