#include "envs/twin/ack_stream.hh"

#include <algorithm>
#include <memory>
#include <span>

#include "agents/controllers/make_controller.hh"
#include "envs/twin/twin.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

namespace {

// The next elements of `all`, as many as `given` has.
template <class Packet>
std::span<const Packet> next_of(std::span<const Packet>& all, std::span<const Packet> given) {
  const std::span<const Packet> next = all.first(given.size());
  all = all.subspan(given.size());
  return next;
}

template <class Packet>
void append(std::vector<Packet>& all, std::span<const Packet> more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

// A decorator that records each call before it passes it on.
class AckStream::Recorder final : public ForwardingController<Cloned<CongestionController>> {
 public:
  Recorder(AckStream& stream, std::unique_ptr<CongestionController> controller)
      : ForwardingController{std::move(controller)}, stream_{stream} {}

  void on_sent(Time now, const SentPacket& packet) override {
    stream_.calls_.emplace_back(now, Kind::sent);
    stream_.sent_.push_back(packet);
    inner().on_sent(now, packet);
  }
  void on_ack(Time now, const AckEvent& ack) override {
    stream_.calls_.emplace_back(now, Kind::ack);
    stream_.acks_.push_back(ack);
    append(stream_.acked_, ack.acked);
    append(stream_.lost_, ack.lost);
    inner().on_ack(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override {
    stream_.calls_.emplace_back(now, Kind::timeout);
    stream_.timeouts_.push_back(timeout);
    append(stream_.timed_out_, timeout.lost);
    inner().on_timeout(now, timeout);
  }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    stream_.calls_.emplace_back(now, Kind::spurious_loss);
    stream_.spurious_losses_.push_back(loss);
    inner().on_spurious_loss(now, loss);
  }
  void on_restart(Time now, Time idle) override {
    stream_.calls_.emplace_back(now, Kind::restart);
    stream_.idle_times_.push_back(idle);
    inner().on_restart(now, idle);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Recorder>(*this);
  }

 private:
  AckStream& stream_;
};

AckStream::AckStream(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed) {
  const ControllerConfig config{.packet_bytes = static_cast<int64_t>(kDataBytes), .seed = seed};
  Recorder recorder{*this, make_controller(scheme, config)};
  Twin<CongestionController> twin{path, recorder, seed};
  twin.run(Time{static_cast<int64_t>(seconds * 1e9)});
  point_at_packets();
}

// The packets that the recorded events point at belong to the sender: makes the events point at the copies.
void AckStream::point_at_packets() {
  std::span<const AckedPacket> acked{acked_};
  std::span<const LostPacket> lost{lost_};
  std::span<const LostPacket> timed_out{timed_out_};
  for (AckEvent& ack : acks_) {
    ack.acked = next_of(acked, ack.acked);
    ack.lost = next_of(lost, ack.lost);
  }
  for (Timeout& timeout : timeouts_) timeout.lost = next_of(timed_out, timeout.lost);
}

void AckStream::replay(std::string_view scheme) const {
  const ControllerConfig config{.packet_bytes = static_cast<int64_t>(kDataBytes), .seed = 1};
  const auto controller = make_controller(scheme, config);
  volatile int64_t cwnd_bytes = 0;  // keeps the read from being optimised away
  Time timer = Time::max();
  const auto read = [&] {
    cwnd_bytes = controller->limits().cwnd_bytes;
    timer = controller->next_timer().value_or(Time::max());
  };
  Position next{};
  Kind last = Kind::restart;
  for (const auto& [now, kind] : calls_) {
    while (timer <= now) {
      controller->on_timer(std::max(timer, Time{}), timer_after(last, next));
      read();
    }
    make_call(now, kind, next, *controller);
    last = kind;
    read();
  }
}

// Nothing is in flight after a time-out and before a restart; a spurious loss is reported just before its
// ACK.
Timer AckStream::timer_after(Kind last, const Position& next) const {
  Timer timer{};
  if (next.ack > 0) timer.rtt = acks_[next.ack - 1].rtt;
  if (last == Kind::sent) timer.inflight_bytes = sent_[next.sent - 1].inflight_bytes;
  if (last == Kind::ack) timer.inflight_bytes = acks_[next.ack - 1].inflight_bytes;
  return timer;
}

void AckStream::make_call(Time now, Kind kind, Position& next, CongestionController& controller) const {
  if (kind == Kind::sent) return controller.on_sent(now, sent_[next.sent++]);
  if (kind == Kind::ack) return controller.on_ack(now, acks_[next.ack++]);
  make_rare_call(now, kind, next, controller);
}

void AckStream::make_rare_call(Time now, Kind kind, Position& next, CongestionController& controller) const {
  if (kind == Kind::timeout) return controller.on_timeout(now, timeouts_[next.timeout++]);
  if (kind == Kind::spurious_loss)
    return controller.on_spurious_loss(now, spurious_losses_[next.spurious_loss++]);
  controller.on_restart(now, idle_times_[next.restart++]);
}

}  // namespace ccgym
