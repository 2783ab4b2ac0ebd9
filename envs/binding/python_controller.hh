// A congestion controller that is a Python object: for each event its method is called, then its attributes
// are read.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "transport/congestion_controller.hh"

namespace ccgym {

// An ACK or a time-out as passed to Python. It can only be read during the call, because the event belongs to
// the sender.
template <class Event>
struct EventView {
  const Event* event{nullptr};

  [[nodiscard]] const Event& get() const {  // throws std::runtime_error after the call
    if (event == nullptr)
      throw std::runtime_error("an event can be read during its callback only: keep its values");
    return *event;
  }
};
using AckView = EventView<AckEvent>;
using TimeoutView = EventView<Timeout>;

// Every call acquires Python's global interpreter lock (GIL), which a simulation does not hold. A Python
// exception ends the simulation.
class PythonController final : public CongestionController {
 public:
  // To be called with the GIL held. Throws std::runtime_error if an attribute is missing or is no valid
  // number.
  PythonController(std::string name, nanobind::object self, int64_t packet_bytes);
  PythonController(const PythonController&) = delete;
  PythonController& operator=(const PythonController&) = delete;
  ~PythonController() override;

  [[nodiscard]] std::string_view name() const override { return "python"; }
  [[nodiscard]] bool wants_ecn() const override { return wants_ecn_; }
  void on_sent(Time now, const SentPacket& packet) override;
  void on_ack(Time now, const AckEvent& ack) override;
  void on_timeout(Time now, const Timeout& timeout) override;
  void on_spurious_loss(Time now, const SpuriousLoss& loss) override;
  void on_restart(Time now, Time idle) override;
  [[nodiscard]] std::optional<Time> next_timer() const override { return next_timer_; }
  void on_timer(Time now, const Timer& timer) override;
  [[nodiscard]] SendLimits limits() const override { return limits_; }
  [[nodiscard]] std::vector<Metric> metrics() const override;
  [[nodiscard]] std::unique_ptr<CongestionController> clone() const override;

 private:
  struct Methods {
    explicit Methods(nanobind::handle self);

    nanobind::object on_sent, on_ack, on_timeout, on_spurious_loss, on_restart, on_timer, metrics;  // or None
  };

  struct Names {  // interned names of the attributes that are read after each call
    Names();

    nanobind::object cwnd_packets, pacing_mbps, next_timer_ms, holds_back;
  };

  template <class Call>
  void call_method(const char* callback, const Call& call);
  void read_attributes();
  [[nodiscard]] double number_of(nanobind::handle attribute, nanobind::handle value) const;
  [[nodiscard]] bool bool_of(const char* attribute, nanobind::handle value) const;
  [[noreturn]] void rethrow(nanobind::python_error& error, const std::string& where) const;

  std::string name_;  // in error messages: "python:" and the user's name of the controller
  nanobind::object self_;
  nanobind::object ack_;      // an AckView, reused by every on_ack
  nanobind::object timeout_;  // a TimeoutView, reused by every on_timeout
  std::optional<Methods> methods_;
  std::optional<Names> names_;
  int64_t packet_bytes_;
  bool wants_ecn_{false};
  bool has_holds_back_{false};  // whether the object has the attribute holds_back
  SendLimits limits_{};
  std::optional<Time> next_timer_{};
};

// Registers "python:FILE.py:CLASS" and "python:package.module:CLASS" with make_controller.
void register_python_controllers();

}  // namespace ccgym
