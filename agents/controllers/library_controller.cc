#include "agents/controllers/library_controller.hh"

#include <array>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include "agents/controllers/controller_library.hh"
#include "agents/controllers/make_controller.hh"
#include "agents/controllers/outside_limits.hh"

namespace ccgym {

namespace {

constexpr std::string_view kSuffix = ".so";
constexpr std::size_t kMaxMetrics = 64;

ccgym_acked_packet to_c(const AckedPacket& packet) {
  return {.seq = packet.seq,
          .bytes = packet.bytes,
          .sent_ms = in_ms(packet.sent_at),
          .received_ms =
              packet.received_at ? in_ms(*packet.received_at) : std::numeric_limits<double>::quiet_NaN(),
          .inflight_bytes_at_departure = packet.inflight_bytes_at_departure,
          .lost_bytes_at_departure = packet.lost_bytes_at_departure,
          .delivered_bytes_at_departure = packet.delivered_bytes_at_departure};
}

ccgym_lost_packet to_c(const LostPacket& packet) {
  return {.seq = packet.seq,
          .bytes = packet.bytes,
          .sent_ms = in_ms(packet.sent_at),
          .inflight_bytes_at_departure = packet.inflight_bytes_at_departure,
          .lost_bytes_at_departure = packet.lost_bytes_at_departure,
          .app_limited = packet.app_limited};
}

int32_t to_c(Limit limit) {
  switch (limit) {
    case Limit::window:
      return CCGYM_LIMIT_WINDOW;
    case Limit::pacing:
      return CCGYM_LIMIT_PACING;
    case Limit::application:
      return CCGYM_LIMIT_APPLICATION;
  }
  throw std::logic_error("unknown limit");
}

double rate_mbps(const AckEvent& ack) {
  return ack.has_rate_sample() ? ack.rate.rate().mbps() : std::numeric_limits<double>::quiet_NaN();
}

// Splits FILE.so or FILE.so:ARGS into the file and its arguments.
std::pair<std::string, std::string> split_arguments(std::string_view argument) {
  const std::size_t end = argument.find(std::string{kSuffix} + ":");
  if (end == std::string_view::npos) return {std::string{argument}, ""};
  return {std::string{argument.substr(0, end + kSuffix.size())},
          std::string{argument.substr(end + kSuffix.size() + 1)}};
}

// Calls a function of the library `name`. One in C++ may throw: the exception then says whose it is.
template <class Call>
auto guarded(const std::string& name, Call call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw std::runtime_error(name + ": threw " + error.what());
  } catch (...) {
    throw std::runtime_error(name + ": threw an exception that is no std::exception");
  }
}

std::unique_ptr<CongestionController> make_from_library(std::string_view argument,
                                                        const ControllerConfig& config) {
  const auto [file, args] = split_arguments(argument);
  return std::make_unique<LibraryController>(file, args, config);
}

}  // namespace

LibraryController::LibraryController(const std::string& file, const std::string& args,
                                     const ControllerConfig& config)
    : name_{"so:" + file}, table_{load_controllers(file)}, packet_bytes_{config.packet_bytes} {
  const ccgym_config c_config{.packet_bytes = packet_bytes_, .seed = config.seed, .args = args.c_str()};
  self_ = take_ownership(guarded(name_, [&] { return table_->create(&c_config, &requested_limits_); }));
  if (!self_) refuse_library(file, "refuses the arguments '" + args + "'");
  read_limits();
}

LibraryController::LibraryController(const LibraryController& other, std::shared_ptr<void> self)
    : LibraryController{other} {
  self_ = std::move(self);
}

std::shared_ptr<void> LibraryController::take_ownership(void* self) const {
  if (self == nullptr) return nullptr;
  return {self, [table = table_](void* gone) { table->destroy(gone); }};
}

void LibraryController::on_sent(Time now, const SentPacket& packet) {
  if (!table_->on_sent) return;
  const ccgym_sent_packet c_packet{packet.seq, packet.bytes, packet.inflight_bytes,
                                   in_ms(packet.smoothed_rtt)};
  guarded(name_, [&] { table_->on_sent(self_.get(), in_ms(now), &c_packet, &requested_limits_); });
  read_limits();
}

void LibraryController::on_ack(Time now, const AckEvent& ack) {
  acked_.clear();
  for (const AckedPacket& packet : ack.acked) acked_.push_back(to_c(packet));
  copy_lost(ack.lost);
  const ccgym_ack c_ack{.acked = acked_.data(),
                        .acked_packets = acked_.size(),
                        .lost = lost_.data(),
                        .lost_packets = lost_.size(),
                        .inflight_bytes = ack.inflight_bytes,
                        .delivered_bytes = ack.delivered_bytes,
                        .declared_lost_bytes = ack.declared_lost_bytes,
                        .next_seq = ack.next_seq,
                        .rtt_ms = in_ms(ack.rtt.latest),
                        .smoothed_rtt_ms = in_ms(ack.rtt.smoothed),
                        .min_rtt_ms = in_ms(ack.rtt.min),
                        .rate_mbps = rate_mbps(ack),
                        .rate_delivered_bytes = ack.rate.delivered_bytes,
                        .rate_prior_delivered_bytes = ack.rate.prior_delivered_bytes,
                        .rate_interval_ms = in_ms(ack.rate.interval),
                        .rate_ack_interval_ms = in_ms(ack.rate.ack_interval),
                        .rate_app_limited = ack.rate.app_limited,
                        .limited_by = to_c(ack.limited_by),
                        .ce_packets = ack.ce_packets};
  guarded(name_, [&] { table_->on_ack(self_.get(), in_ms(now), &c_ack, &requested_limits_); });
  read_limits();
}

void LibraryController::on_timeout(Time now, const Timeout& timeout) {
  copy_lost(timeout.lost);
  const ccgym_timeout c_timeout{.lost = lost_.data(),
                                .lost_packets = lost_.size(),
                                .delivered_bytes = timeout.delivered_bytes,
                                .declared_lost_bytes = timeout.declared_lost_bytes,
                                .next_seq = timeout.next_seq,
                                .rtt_ms = in_ms(timeout.rtt.latest),
                                .smoothed_rtt_ms = in_ms(timeout.rtt.smoothed),
                                .min_rtt_ms = in_ms(timeout.rtt.min)};
  guarded(name_, [&] { table_->on_timeout(self_.get(), in_ms(now), &c_timeout, &requested_limits_); });
  read_limits();
}

void LibraryController::on_spurious_loss(Time now, const SpuriousLoss& loss) {
  if (!table_->on_spurious_loss) return;
  const ccgym_spurious_loss c_loss{loss.seq, loss.bytes, in_ms(loss.sent_at), loss.timeout};
  guarded(name_, [&] { table_->on_spurious_loss(self_.get(), in_ms(now), &c_loss, &requested_limits_); });
  read_limits();
}

void LibraryController::on_restart(Time now, Time idle) {
  if (!table_->on_restart) return;
  guarded(name_, [&] { table_->on_restart(self_.get(), in_ms(now), in_ms(idle), &requested_limits_); });
  read_limits();
}

void LibraryController::on_timer(Time now, const Timer& timer) {
  const ccgym_timer c_timer{.inflight_bytes = timer.inflight_bytes,
                            .rtt_ms = in_ms(timer.rtt.latest),
                            .smoothed_rtt_ms = in_ms(timer.rtt.smoothed),
                            .min_rtt_ms = in_ms(timer.rtt.min)};
  guarded(name_, [&] { table_->on_timer(self_.get(), in_ms(now), &c_timer, &requested_limits_); });
  read_limits();
  check_timer_moved(name_, next_timer_, now);
}

std::vector<Metric> LibraryController::metrics() const {
  if (!table_->metrics) return {};
  std::array<ccgym_metric, kMaxMetrics> c_metrics{};
  const std::size_t count =
      guarded(name_, [&] { return table_->metrics(self_.get(), c_metrics.data(), c_metrics.size()); });
  if (count > c_metrics.size())
    throw std::runtime_error(name_ + ": metrics tells more than there is room for");
  std::vector<Metric> metrics;
  for (const ccgym_metric& metric : std::span{c_metrics}.first(count)) {
    if (metric.name == nullptr || metric.unit == nullptr)
      throw std::runtime_error(name_ + ": metrics leaves a name or a unit NULL");
    metrics.push_back({metric.name, metric.unit, metric.value});
  }
  return metrics;
}

std::unique_ptr<CongestionController> LibraryController::clone() const {
  if (!table_->clone)
    throw NotCopyableError(name_ + ": has no clone: it cannot run where flows are copied midway");
  std::shared_ptr<void> self = take_ownership(guarded(name_, [&] { return table_->clone(self_.get()); }));
  if (!self) throw std::runtime_error(name_ + ": clone answers NULL");
  return std::unique_ptr<CongestionController>{new LibraryController{*this, std::move(self)}};
}

void LibraryController::copy_lost(std::span<const LostPacket> lost) {
  lost_.clear();
  for (const LostPacket& packet : lost) lost_.push_back(to_c(packet));
}

void LibraryController::read_limits() {
  limits_.cwnd_bytes = checked_window_bytes(name_, requested_limits_.cwnd_packets, packet_bytes_);
  limits_.pacing_rate.reset();
  if (requested_limits_.pacing_mbps != CCGYM_NO_PACING)
    limits_.pacing_rate = checked_pacing(name_, requested_limits_.pacing_mbps);
  limits_.holds_back = requested_limits_.holds_back != 0;
  next_timer_.reset();
  if (table_->on_timer && requested_limits_.next_timer_ms != CCGYM_NO_TIMER)
    next_timer_ = checked_timer(name_, requested_limits_.next_timer_ms);
}

void register_library_controllers() { register_controllers("so", make_from_library); }

}  // namespace ccgym
