#include "envs/binding/python_controller.hh"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <utility>

#include "agents/controllers/make_controller.hh"
#include "agents/controllers/outside_limits.hh"

namespace ccgym {

namespace nb = nanobind;

namespace {

// Throws the TypeError that Python raises if `value` is no number.
double number(nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error{};
  return number;
}

// Sets the event of a view, and clears it again at the end of the scope.
template <class Event>
class ScopedEvent {
 public:
  ScopedEvent(nb::handle view, const Event& event) : view_{*nb::inst_ptr<EventView<Event>>(view)} {
    view_.event = &event;
  }
  ScopedEvent(const ScopedEvent&) = delete;
  ScopedEvent& operator=(const ScopedEvent&) = delete;
  ~ScopedEvent() { view_.event = nullptr; }

 private:
  EventView<Event>& view_;
};

nb::object method_or_none(nb::handle self, const char* name) { return nb::getattr(self, name, nb::none()); }

std::string type_of(nb::handle value) {
  return nb::cast<std::string>(nb::handle{value.type()}.attr("__name__"));
}

// str(value), in which half a surrogate pair, which UTF-8 does not have, is escaped; empty if its __str__
// raises.
std::string text_of(nb::handle value) {
  try {
    return nb::cast<std::string>(nb::str(value).attr("encode")("utf-8", "backslashreplace").attr("decode")());
  } catch (const nb::python_error&) {
    return "";
  }
}

nb::object interned(const char* name) { return nb::steal(PyUnicode_InternFromString(name)); }

}  // namespace

PythonController::Methods::Methods(nb::handle self)
    : on_sent{method_or_none(self, "on_sent")},
      on_ack{self.attr("on_ack")},
      on_timeout{method_or_none(self, "on_timeout")},
      on_spurious_loss{method_or_none(self, "on_spurious_loss")},
      on_restart{method_or_none(self, "on_restart")},
      on_timer{method_or_none(self, "on_timer")},
      metrics{method_or_none(self, "metrics")} {}

PythonController::Names::Names()
    : cwnd_packets{interned("cwnd_packets")},
      pacing_mbps{interned("pacing_mbps")},
      next_timer_ms{interned("next_timer_ms")},
      holds_back{interned("holds_back")} {}

PythonController::PythonController(std::string name, nb::object self, int64_t packet_bytes)
    : name_{std::move(name)},
      self_{std::move(self)},
      ack_{nb::cast(AckView{})},
      timeout_{nb::cast(TimeoutView{})},
      methods_{Methods{self_}},
      names_{Names{}},
      packet_bytes_{packet_bytes} {
  call_method("__init__", [this] {
    wants_ecn_ = bool_of("wants_ecn", nb::getattr(self_, "wants_ecn", nb::bool_(false)));
    has_holds_back_ = nb::hasattr(self_, names_->holds_back);
    return nb::object{nb::none()};
  });
}

PythonController::~PythonController() {
  const nb::gil_scoped_acquire locked;
  methods_.reset();
  names_.reset();
  timeout_.reset();
  ack_.reset();
  self_.reset();
}

void PythonController::on_sent(Time now, const SentPacket& packet) {
  if (!methods_->on_sent.is_none())
    call_method("on_sent", [&] { return methods_->on_sent(in_ms(now), packet); });
}

void PythonController::on_ack(Time now, const AckEvent& ack) {
  call_method("on_ack", [&] {
    const ScopedEvent scoped{ack_, ack};
    return methods_->on_ack(in_ms(now), ack_);
  });
}

void PythonController::on_timeout(Time now, const Timeout& timeout) {
  if (methods_->on_timeout.is_none()) return;
  call_method("on_timeout", [&] {
    const ScopedEvent scoped{timeout_, timeout};
    return methods_->on_timeout(in_ms(now), timeout_);
  });
}

void PythonController::on_spurious_loss(Time now, const SpuriousLoss& loss) {
  if (methods_->on_spurious_loss.is_none()) return;
  call_method("on_spurious_loss", [&] { return methods_->on_spurious_loss(in_ms(now), loss); });
}

void PythonController::on_restart(Time now, Time idle) {
  if (methods_->on_restart.is_none()) return;
  call_method("on_restart", [&] { return methods_->on_restart(in_ms(now), in_ms(idle)); });
}

void PythonController::on_timer(Time now, const Timer& timer) {
  call_method("on_timer", [&] { return methods_->on_timer(in_ms(now), timer); });
  check_timer_moved(name_, next_timer_, now);
}

// The Python method returns a dict from a name, or (name, unit), to a number.
std::vector<Metric> PythonController::metrics() const {
  const nb::gil_scoped_acquire locked;
  if (methods_->metrics.is_none()) return {};
  try {
    std::vector<Metric> metrics;
    for (const auto& [key, value] : nb::cast<nb::dict>(methods_->metrics())) {
      const bool plain = nb::isinstance<nb::str>(key);
      metrics.push_back({nb::cast<std::string>(plain ? nb::object(nb::borrow(key)) : nb::object(key[0])),
                         plain ? "" : nb::cast<std::string>(nb::object(key[1])), number(value)});
    }
    return metrics;
  } catch (const nb::cast_error&) {
    throw std::runtime_error(name_ + ": metrics returns no dict of name, or (name, unit), to number");
  } catch (nb::python_error& error) {
    rethrow(error, "metrics");
  }
}

std::unique_ptr<CongestionController> PythonController::clone() const {
  const nb::gil_scoped_acquire locked;
  nb::object copy = nb::module_::import_("copy").attr("deepcopy")(self_);
  return std::make_unique<PythonController>(name_, std::move(copy), packet_bytes_);
}

// Calls a method and reads the attributes. A Python exception is raised again with the names of the
// controller and of the callback; the original one becomes its cause.
template <class Call>
void PythonController::call_method(const char* callback, const Call& call) {
  const nb::gil_scoped_acquire locked;
  try {
    const nb::object answer = call();
    if (!answer.is_none())
      throw std::runtime_error(name_ + ": " + callback + " returns something of type " + type_of(answer) +
                               ": it should set cwnd_packets and pacing_mbps, and return nothing");
    read_attributes();
  } catch (nb::python_error& error) {
    rethrow(error, callback);
  }
}

void PythonController::read_attributes() {
  limits_.cwnd_bytes = checked_window_bytes(
      name_, number_of(names_->cwnd_packets, self_.attr(names_->cwnd_packets)), packet_bytes_);
  limits_.pacing_rate.reset();
  const nb::object pacing = self_.attr(names_->pacing_mbps);
  if (!pacing.is_none()) limits_.pacing_rate = checked_pacing(name_, number_of(names_->pacing_mbps, pacing));
  if (has_holds_back_) limits_.holds_back = bool_of("holds_back", self_.attr(names_->holds_back));
  next_timer_.reset();
  if (methods_->on_timer.is_none()) return;
  const nb::object timer = nb::getattr(self_, names_->next_timer_ms, nb::none());
  if (!timer.is_none()) next_timer_ = checked_timer(name_, number_of(names_->next_timer_ms, timer));
}

double PythonController::number_of(nb::handle attribute, nb::handle value) const {
  try {
    return number(value);
  } catch (nb::python_error& error) {
    const std::string wrong =
        error.matches(PyExc_OverflowError) ? "is too large" : "is of type " + type_of(value);
    throw std::runtime_error(name_ + ": " + nb::cast<std::string>(attribute) + " " + wrong +
                             ", expected a number");
  }
}

bool PythonController::bool_of(const char* attribute, nb::handle value) const {
  if (!nb::isinstance<nb::bool_>(value)) throw std::runtime_error(name_ + ": " + attribute + " is no bool");
  return nb::cast<bool>(value);
}

// A KeyboardInterrupt is passed on unchanged, because the controller has not caused it.
void PythonController::rethrow(nb::python_error& error, const std::string& where) const {
  if (error.matches(PyExc_KeyboardInterrupt)) throw nb::python_error{error};
  const auto type = nb::cast<std::string>(nb::handle{error.type()}.attr("__name__"));
  const std::string text = text_of(error.value());
  nb::raise_from(error, PyExc_RuntimeError, "%s: %s raised %s: %s", name_.c_str(), where.c_str(),
                 type.c_str(), text.c_str());
  throw nb::python_error{};
}

namespace {

std::unique_ptr<CongestionController> make_python(std::string_view argument, const ControllerConfig& config) {
  const nb::gil_scoped_acquire locked;
  const std::string name{argument};
  nb::object self = nb::module_::import_("ccgym.envs.python_controllers")
                        .attr("make_controller")(name, config.packet_bytes);
  return std::make_unique<PythonController>("python:" + name, std::move(self), config.packet_bytes);
}

}  // namespace

void register_python_controllers() { register_controllers("python", make_python); }

}  // namespace ccgym
