// Spurious losses: the response is undone (RFC 9438, section 4.9.2; Linux does so for every scheme).
#include <gtest/gtest.h>

#include <vector>

#include "agents/controllers/cubic.hh"
#include "agents/controllers/dctcp.hh"
#include "agents/controllers/new_reno.hh"
#include "tests/cpp/agents/controllers/window_flow.hh"

namespace ccgym {
namespace {

using std::chrono::milliseconds;

template <class Controller>
class UndoneReduction : public testing::Test {
 protected:
  void arrive(uint64_t seq) { controller_.on_spurious_loss(flow_.now(), {.seq = seq}); }

  Controller controller_{WindowFlow::kPacketBytes};
  WindowFlow flow_{controller_};
};

using Controllers = testing::Types<Cubic, NewReno, Dctcp>;
TYPED_TEST_SUITE(UndoneReduction, Controllers);

// cwnd is restored, and slow start continues.
TYPED_TEST(UndoneReduction, ComesOnceAllOfAnEpisodeHasArrived) {
  WindowFlow& flow = this->flow_;
  flow.send_while_open();
  for (int i = 0; i < 2; ++i) flow.round_trip(milliseconds{100});
  const double before = flow.cwnd();
  const std::vector<uint64_t> in_flight = flow.all_in_flight();
  flow.lose({in_flight[0], in_flight[1]});
  flow.lose({in_flight[2]});
  for (std::size_t late = 0; late < 3; ++late) {
    EXPECT_LT(flow.cwnd(), before);
    this->arrive(in_flight[late]);
  }
  EXPECT_EQ(flow.cwnd(), before);
  flow.ack(in_flight[3], milliseconds{100});
  EXPECT_EQ(flow.cwnd(), before + 1);
}

TYPED_TEST(UndoneReduction, DoesNotComeWhereMarksTellOfCongestionToo) {
  WindowFlow& flow = this->flow_;
  flow.send_while_open();
  flow.round_trip(milliseconds{100});
  const double before = flow.cwnd();
  const std::vector<uint64_t> in_flight = flow.all_in_flight();
  flow.lose({in_flight[0]});
  flow.mark_next(1);
  flow.ack(in_flight[1], milliseconds{100});
  this->arrive(in_flight[0]);
  EXPECT_LT(flow.cwnd(), before);
}

}  // namespace
}  // namespace ccgym
