// Runs a controller in the twin for 30 s, then Copa with a delta of its own and Cubic: throughput and 95th
// percentile of one-way delay.
#include <algorithm>
#include <iostream>
#include <string>

#include "agents/controllers/copa.hh"
#include "agents/controllers/make_controller.hh"
#include "envs/twin/simulate.hh"
#include "my_controller.hh"

namespace {

using Made = std::unique_ptr<ccgym::CongestionController>;

Made make(std::string_view, const ccgym::ControllerConfig& config) {
  return std::make_unique<MyController>(config.packet_bytes);
}

Made make_eager_copa(std::string_view, const ccgym::ControllerConfig& config) {
  return std::make_unique<ccgym::Copa>(config.packet_bytes, ccgym::Copa::Config{.delta = 0.1});
}

void report(const std::string& scheme, const ccgym::PathSpec& path, double seconds) {
  const ccgym::FlowRecord record = ccgym::simulate(path, scheme, seconds, /*seed=*/1).front();
  double bits = 0;
  std::vector<double> delays_ms;
  for (std::size_t i = 0; i < record.departure_ms.size(); ++i) {
    bits += 8.0 * record.departure_bytes[i];
    delays_ms.push_back(record.received_ms[i] - record.departed_sent_ms[i]);
  }
  const auto p95 = delays_ms.begin() + static_cast<std::ptrdiff_t>(delays_ms.size() * 95 / 100);
  std::nth_element(delays_ms.begin(), p95, delays_ms.end());
  std::cout << scheme << ": " << bits / 1e6 / seconds << " Mbit/s, p95 delay " << *p95 << " ms\n";
}

}  // namespace

int main() {
  ccgym::register_controllers("mine", make);
  ccgym::register_controllers("eager-copa", make_eager_copa);
  const auto link = ccgym::Schedule::constant(/*rate_mbps=*/12);
  const ccgym::PathSpec path{.delay_ms = 20,
                             .uplink = {.schedule = link, .queue = {.kind = "droptail", .packets = 60}},
                             .downlink = {.schedule = link}};
  for (const char* scheme : {"mine", "eager-copa", "cubic"}) report(scheme, path, /*seconds=*/30);
}
