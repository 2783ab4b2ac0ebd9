// Drains of rivals: BBR's ProbeRTT empties the queue as flows of our kind do, every few seconds.
//
// Where a round trip takes a fifth of a second or more, it does so just when a drain of ours is due, ten
// round trips after the last one: each succeeds, nobody is suspected, and beside BBR 3 a flow was driven back
// until a hundredth of the link was left. But flows that drain with us keep few packets each. Where a very
// long queue stands before one drain after the other, and the flow starves behind it, those who drain are
// rivals.
#pragma once

namespace ccgym {

class RivalDrains {
 public:
  void on_drain(bool starves) { starved_ = starves ? starved_ + 1 : 0; }  // behind a very long queue
  [[nodiscard]] bool suspected() const { return starved_ >= kSuspicious; }
  [[nodiscard]] bool told() const { return starved_ >= enough_; }
  void on_contest() {
    starved_ = 0;
    enough_ = kSuspicious;  // what has been so once is sooner believed
  }

 private:
  // In a row. Of 100 groups of 2 to 16 flows of our kind, some of which meet at a queue of seconds, four
  // change none but one that contested before; with three, one group took its own for rivals, and its queue
  // was full.
  static constexpr int kSuspicious = 3;
  static constexpr int kEnough = 4;

  int starved_{0};
  int enough_{kEnough};
};

}  // namespace ccgym
