#include "envs/twin/ack_stream.hh"

#include <memory>
#include <utility>

#include "agents/controllers/make_controller.hh"
#include "envs/twin/twin.hh"

namespace ccgym {

// Stands between the sender and the controller that flies.
class AckStream::Recorder final : public CongestionController {
 public:
  Recorder(AckStream& stream, std::unique_ptr<CongestionController> controller)
      : stream_{stream}, controller_{std::move(controller)} {}

  [[nodiscard]] std::string_view name() const override { return controller_->name(); }
  void on_sent(Time now, const SentPacket& packet) override {
    stream_.calls_.push_back({now, Kind::sent, stream_.sent_.size()});
    stream_.sent_.push_back(packet);
    controller_->on_sent(now, packet);
  }
  void on_ack(Time now, const AckedPacket& packet) override {
    stream_.calls_.push_back({now, Kind::acked, stream_.acked_.size()});
    stream_.acked_.push_back(packet);
    controller_->on_ack(now, packet);
  }
  void on_loss(Time now, const Loss& loss) override {
    stream_.calls_.push_back({now, Kind::lost, stream_.lost_.size()});
    stream_.lost_.push_back({{loss.packets.begin(), loss.packets.end()}, loss.inflight_bytes, loss.timeout});
    controller_->on_loss(now, loss);
  }
  [[nodiscard]] std::optional<Time> next_timer() const override { return controller_->next_timer(); }
  void on_timer(Time now) override { controller_->on_timer(now); }
  [[nodiscard]] SendLimits limits() const override { return controller_->limits(); }

 private:
  AckStream& stream_;
  std::unique_ptr<CongestionController> controller_;
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
  for (const Call& call : calls_) {
    while (timer <= call.now) {
      controller->on_timer(std::max(timer, Time{}));
      read();
    }
    make(call, *controller);
    read();
  }
}

void AckStream::make(const Call& call, CongestionController& controller) const {
  if (call.kind == Kind::sent) return controller.on_sent(call.now, sent_[call.index]);
  if (call.kind == Kind::acked) return controller.on_ack(call.now, acked_[call.index]);
  const RecordedLoss& loss = lost_[call.index];
  controller.on_loss(call.now, {loss.packets, loss.inflight_bytes, loss.timeout});
}

}  // namespace ccgym
