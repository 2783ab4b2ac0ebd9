// Drains by rivals: every few seconds BBR's ProbeRTT empties the queue, as the drains of flows of our kind
// do.
//
// Where a round trip takes a fifth of a second or more, ProbeRTT comes just when a drain of ours is due, ten
// round trips after the last one. Then each of our drains succeeds and nobody is suspected: beside BBR 3 a
// flow was driven back until it had a hundredth of the link. But flows that drain with us keep few packets
// each. So if a very long queue stands before one drain after the other, and the flow starves behind it,
// those that drain are rivals.
#pragma once

namespace ccgym {

class RivalDrains {
 public:
  void on_drain(bool starves) {
    starved_ = starves ? starved_ + 1 : 0;
  }  // `starves`: behind a very long queue
  [[nodiscard]] bool suspected() const { return starved_ >= kSuspicious; }
  [[nodiscard]] bool told() const { return starved_ >= enough_; }
  void on_contest() {
    starved_ = 0;
    enough_ = kSuspicious;  // what has been seen once is believed sooner
  }

 private:
  // Drains in a row. With four, of 100 groups of 2 to 16 flows of our kind, some of which find a queue of
  // seconds, only one changes, which competed before as well; with three, another group took its own kind for
  // rivals, and its queue was full.
  static constexpr int kSuspicious = 3;
  static constexpr int kEnough = 4;

  int starved_{0};
  int enough_{kEnough};
};

}  // namespace ccgym
