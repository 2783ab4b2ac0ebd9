#include "envs/twin/ack_stream.hh"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "agents/controllers/make_controller.hh"
#include "envs/twin/twin.hh"
#include "transport/forwarding_controller.hh"

namespace ccgym {

// Stands between the sender and the controller that runs.
class AckStream::Recorder final : public ForwardingController<Cloned<CongestionController>> {
 public:
  Recorder(AckStream& stream, std::unique_ptr<CongestionController> controller)
      : ForwardingController{std::move(controller)}, stream_{stream} {}

  void on_sent(Time now, const SentPacket& packet) override {
    note(now, packet);
    inner().on_sent(now, packet);
  }
  void on_ack(Time now, const AckEvent& ack) override {
    note(now, RecordedAck{ack, stream_.acked_.size(), stream_.lost_.size()});
    stream_.acked_.insert(stream_.acked_.end(), ack.acked.begin(), ack.acked.end());
    stream_.lost_.insert(stream_.lost_.end(), ack.lost.begin(), ack.lost.end());
    inner().on_ack(now, ack);
  }
  void on_timeout(Time now, const Timeout& timeout) override {
    note(now, RecordedTimeout{timeout, stream_.lost_.size()});
    stream_.lost_.insert(stream_.lost_.end(), timeout.lost.begin(), timeout.lost.end());
    inner().on_timeout(now, timeout);
  }
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override {
    note(now, loss);
    inner().on_spurious_loss(now, loss);
  }
  void on_restart(Time now, Time idle) override {
    note(now, Restart{idle});
    inner().on_restart(now, idle);
  }
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override {
    return std::make_unique<Recorder>(*this);
  }

 private:
  void note(Time now, What what) { stream_.calls_.emplace_back(now, what); }

  AckStream& stream_;
};

AckStream::AckStream(const PathSpec& path, std::string_view scheme, double seconds, uint64_t seed) {
  const ControllerConfig config{.packet_bytes = static_cast<int64_t>(kDataBytes), .seed = seed};
  Recorder recorder{*this, make_controller(scheme, config)};
  Twin<Recorder> twin{path, recorder, seed};
  twin.run(Time{static_cast<int64_t>(seconds * 1e9)});
}

void AckStream::replay(std::string_view scheme) const {
  const ControllerConfig config{.packet_bytes = static_cast<int64_t>(kDataBytes), .seed = 1};
  const auto controller = make_controller(scheme, config);
  volatile int64_t cwnd_bytes = 0;  // the reading is not optimised away
  Time timer = Time::max();
  const auto read = [&] {
    cwnd_bytes = controller->limits().cwnd_bytes;
    timer = controller->next_timer().value_or(Time::max());
  };
  for (const auto& [now, what] : calls_) {
    while (timer <= now) {
      controller->on_timer(std::max(timer, Time{}));
      read();
    }
    make(now, what, *controller);
    read();
  }
}

void AckStream::make(Time now, const What& what, CongestionController& controller) const {
  if (const auto* const recorded = std::get_if<RecordedAck>(&what)) {
    AckEvent ack = recorded->ack;
    ack.acked = std::span{acked_}.subspan(recorded->acked_begin, ack.acked.size());
    ack.lost = std::span{lost_}.subspan(recorded->lost_begin, ack.lost.size());
    controller.on_ack(now, ack);
  } else if (const auto* const packet = std::get_if<SentPacket>(&what)) {
    controller.on_sent(now, *packet);
  } else if (const auto* const timed_out = std::get_if<RecordedTimeout>(&what)) {
    Timeout timeout = timed_out->timeout;
    timeout.lost = std::span{lost_}.subspan(timed_out->lost_begin, timeout.lost.size());
    controller.on_timeout(now, timeout);
  } else if (const auto* const loss = std::get_if<SpuriousLoss>(&what)) {
    controller.on_spurious_loss(now, *loss);
  } else {
    controller.on_restart(now, std::get<Restart>(what).idle);
  }
}

}  // namespace ccgym
