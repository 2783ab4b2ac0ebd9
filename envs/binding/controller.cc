// Congestion controllers in Python: the events that they are called with, and the names that select them.
#include <nanobind/nanobind.h>

#include <span>
#include <stdexcept>

#include "agents/controllers/library_controller.hh"
#include "envs/binding/bind.hh"
#include "envs/binding/python_controller.hh"

namespace ccgym {

namespace nb = nanobind;

namespace {

template <class Packet>
nb::tuple tuple_of(std::span<const Packet> packets) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(packets.size())));
  for (std::size_t i = 0; i < packets.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), nb::cast(packets[i]).release().ptr());
  return nb::borrow<nb::tuple>(tuple);
}

template <class Event, class Value>
auto field(Value Event::* member) {
  return [member](const EventView<Event>& view) { return view.get().*member; };
}

// Binds the RTT statistics, under the same names for every event. `rtt_of` returns the RttStats of an event.
template <class Event, class RttOf>
void bind_rtt(nb::class_<Event>& bound, RttOf rtt_of) {
  bound.def_prop_ro("rtt_ms", [rtt_of](const Event& event) { return in_ms(rtt_of(event).latest); })
      .def_prop_ro("smoothed_rtt_ms", [rtt_of](const Event& event) { return in_ms(rtt_of(event).smoothed); })
      .def_prop_ro("min_rtt_ms", [rtt_of](const Event& event) { return in_ms(rtt_of(event).min); });
}

nb::object rate_mbps(const AckView& ack) {
  const AckEvent& event = ack.get();
  if (!event.has_rate_sample()) return nb::none();
  return nb::float_(event.rate.rate().mbps());
}

const char* limited_by(const AckView& ack) {
  switch (ack.get().limited_by) {
    case Limit::window:
      return "window";
    case Limit::pacing:
      return "pacing";
    case Limit::application:
      return "application";
  }
  throw std::logic_error("unknown limit");
}

nb::object received_ms(const AckedPacket& packet) {
  if (!packet.received_at) return nb::none();
  return nb::float_(in_ms(*packet.received_at));
}

void bind_packets(nb::module_& module) {
  nb::class_<SentPacket>(module, "SentPacket",
                         "A packet that has just been sent; inflight_bytes includes it.")
      .def_ro("seq", &SentPacket::seq)
      .def_ro("bytes", &SentPacket::bytes)
      .def_ro("inflight_bytes", &SentPacket::inflight_bytes)
      .def_prop_ro("smoothed_rtt_ms", [](const SentPacket& packet) { return in_ms(packet.smoothed_rtt); });
  nb::class_<AckedPacket>(
      module, "AckedPacket",
      "An acknowledged packet. received_ms is the arrival time by the receiver's clock, of which only "
      "differences are meaningful, or None if it is not reported.")
      .def_ro("seq", &AckedPacket::seq)
      .def_ro("bytes", &AckedPacket::bytes)
      .def_prop_ro("sent_ms", [](const AckedPacket& packet) { return in_ms(packet.sent_at); })
      .def_prop_ro("received_ms", &received_ms)
      .def_ro("inflight_bytes_at_departure", &AckedPacket::inflight_bytes_at_departure)
      .def_ro("lost_bytes_at_departure", &AckedPacket::lost_bytes_at_departure)
      .def_ro("delivered_bytes_at_departure", &AckedPacket::delivered_bytes_at_departure);
  nb::class_<LostPacket>(module, "LostPacket", "A packet that has been declared lost.")
      .def_ro("seq", &LostPacket::seq)
      .def_ro("bytes", &LostPacket::bytes)
      .def_prop_ro("sent_ms", [](const LostPacket& packet) { return in_ms(packet.sent_at); })
      .def_ro("inflight_bytes_at_departure", &LostPacket::inflight_bytes_at_departure)
      .def_ro("lost_bytes_at_departure", &LostPacket::lost_bytes_at_departure)
      .def_ro("app_limited", &LostPacket::app_limited);
  nb::class_<SpuriousLoss>(
      module, "SpuriousLoss",
      "A packet that was declared lost and has arrived after all. timeout: the arrival shows that a time-out "
      "was spurious, and all packets sent after it are in flight again.")
      .def_ro("seq", &SpuriousLoss::seq)
      .def_ro("bytes", &SpuriousLoss::bytes)
      .def_prop_ro("sent_ms", [](const SpuriousLoss& loss) { return in_ms(loss.sent_at); })
      .def_ro("timeout", &SpuriousLoss::timeout);
}

void bind_timers(nb::module_& module) {
  nb::class_<Timer> timer(module, "Timer", "The event of a controller's on_timer.");
  timer.def_ro("inflight_bytes", &Timer::inflight_bytes);
  bind_rtt(timer, [](const Timer& event) -> const RttStats& { return event.rtt; });
  nb::class_<TimeoutView> timeout(
      module, "Timeout",
      "The event of a controller's on_timeout: all packets in flight are presumed lost. It can only be read "
      "during the call.");
  timeout.def_prop_ro("lost", [](const TimeoutView& view) { return tuple_of(view.get().lost); })
      .def_prop_ro("delivered_bytes", field(&Timeout::delivered_bytes))
      .def_prop_ro("declared_lost_bytes", field(&Timeout::declared_lost_bytes))
      .def_prop_ro("next_seq", field(&Timeout::next_seq));
  bind_rtt(timeout, [](const TimeoutView& view) -> const RttStats& { return view.get().rtt; });
}

void bind_ack(nb::module_& module) {
  nb::class_<AckView> bound(module, "Ack",
                            "The event of a controller's on_ack. It can only be read during the call. "
                            "rate_mbps is None if a timer has detected the losses, without an ACK.");
  bound.def_prop_ro("acked", [](const AckView& ack) { return tuple_of(ack.get().acked); })
      .def_prop_ro("lost", [](const AckView& ack) { return tuple_of(ack.get().lost); })
      .def_prop_ro("acked_bytes", [](const AckView& ack) { return ack.get().acked_bytes(); })
      .def_prop_ro("lost_bytes", [](const AckView& ack) { return ack.get().lost_bytes(); })
      .def_prop_ro("inflight_bytes", field(&AckEvent::inflight_bytes))
      .def_prop_ro("delivered_bytes", field(&AckEvent::delivered_bytes))
      .def_prop_ro("declared_lost_bytes", field(&AckEvent::declared_lost_bytes))
      .def_prop_ro("next_seq", field(&AckEvent::next_seq))
      .def_prop_ro("rate_mbps", &rate_mbps)
      .def_prop_ro("rate_delivered_bytes", [](const AckView& ack) { return ack.get().rate.delivered_bytes; })
      .def_prop_ro("rate_prior_delivered_bytes",
                   [](const AckView& ack) { return ack.get().rate.prior_delivered_bytes; })
      .def_prop_ro("rate_interval_ms", [](const AckView& ack) { return in_ms(ack.get().rate.interval); })
      .def_prop_ro("rate_ack_interval_ms",
                   [](const AckView& ack) { return in_ms(ack.get().rate.ack_interval); })
      .def_prop_ro("rate_app_limited", [](const AckView& ack) { return ack.get().rate.app_limited; })
      .def_prop_ro("ce_packets", field(&AckEvent::ce_packets))
      .def_prop_ro("limited_by", &limited_by);
  bind_rtt(bound, [](const AckView& view) -> const RttStats& { return view.get().rtt; });
}

}  // namespace

void bind_controller(nb::module_& module) {
  register_python_controllers();
  register_library_controllers();
  bind_packets(module);
  bind_timers(module);
  bind_ack(module);
}

}  // namespace ccgym
