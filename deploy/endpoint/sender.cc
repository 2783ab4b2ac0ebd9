// ccgym-sender: one flow of dummy data to a ccgym-receiver, under any scheme.
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "agents/controllers/library_controller.hh"
#include "agents/controllers/make_controller.hh"
#include "deploy/endpoint/clock.hh"
#include "deploy/endpoint/command_line.hh"
#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/flow_stats.hh"
#include "deploy/endpoint/gym_link.hh"
#include "deploy/endpoint/handshake.hh"
#include "deploy/endpoint/random_bits.hh"
#include "deploy/endpoint/sender_options.hh"
#include "deploy/endpoint/timed_policy.hh"
#include "deploy/endpoint/udp_flow.hh"
#include "deploy/endpoint/udp_socket.hh"
#include "deploy/endpoint/wait.hh"

namespace ccgym {

namespace {

#ifdef CCGYM_LOADS_LIBRARIES
constexpr std::string_view kProgram = "ccgym-sender-so";
constexpr auto know_libraries = register_library_controllers;
#else
constexpr std::string_view kProgram = "ccgym-sender";

std::unique_ptr<CongestionController> refuse_library(std::string_view, const ControllerConfig&) {
  throw std::invalid_argument(
      "scheme so: this program is static and loads no library: ccgym-sender-so beside it does");
}

void know_libraries() { register_controllers("so", refuse_library); }
#endif

ControllerConfig config_of(uint64_t seed) {
  return {.packet_bytes = kDataBytes, .seed = seed, .started_at = realtime_now()};
}

std::unique_ptr<CongestionController> controller_for(const std::string& scheme, uint64_t seed = 0) {
  try {
    return make_controller(scheme, config_of(seed));
  } catch (const std::exception& error) {
    throw InputError{error.what()};
  }
}

// Who decides for the flow: a scheme, whose decisions are timed if it is a policy, or a gym.
class FlowController {
 public:
  explicit FlowController(const SenderOptions& options) {
    if (options.gym) {
      gym_.emplace(options.gym->socket, options.gym->policy, config_of(options.seed));
      return;
    }
    scheme_ = controller_for(options.scheme, options.seed);
    if (scheme_->name() != "policy") return;
    auto policy = std::make_unique<TimedPolicy>(std::move(scheme_));
    timed_policy_ = policy.get();
    scheme_ = std::move(policy);
  }

  FlowController(const FlowController&) = delete;
  FlowController& operator=(const FlowController&) = delete;
  ~FlowController() = default;

  [[nodiscard]] CongestionController& controller() { return gym_ ? gym_->policy() : *scheme_; }
  [[nodiscard]] GymLink* gym() { return gym_ ? &*gym_ : nullptr; }  // null: a scheme decides
  [[nodiscard]] const DurationHistogram* decision_times() const {   // null if the scheme is no policy
    return timed_policy_ != nullptr ? &timed_policy_->decision_times() : nullptr;
  }

 private:
  std::optional<GymLink> gym_{};
  std::unique_ptr<CongestionController> scheme_{};
  const TimedPolicy* timed_policy_{nullptr};
};

int no_answer(const SenderOptions& options, Answer answer) {
  const std::string where = options.receiver.to_string();
  if (answer == Answer::refused) {
    std::cerr << std::string{kProgram} + ": " + where +
                     " takes no flow of ours: it has another, or a --secret that is not ours\n";
    return 1;
  }
  std::cerr << std::string{kProgram} + ": no answer from " + where + " after " + std::to_string(kHelloTries) +
                   " tries: start ccgym-receiver there first, and let its UDP port through\n";
  return 1;
}

int run_sender(const SenderOptions& options) {
  FlowController flow_controller{options};
  StopSignals stop;
  const FileDescriptor socket = connect_udp(options.receiver);
  const uint64_t token = random_bits();
  const Answer answer = say_hello(socket, token, options.secret, stop);
  if (answer == Answer::stopped) return 0;
  if (answer != Answer::accepted) return no_answer(options, answer);

  const double cpu_before = cpu_seconds();
  UdpFlow flow{socket, flow_controller.controller(), token, options.traffic};
  flow.run(options.duration, stop, flow_controller.gym());
  const FlowSummary summary{options.scheme, options.receiver.to_string(), options.receiver.is_ipv6(),
                            in_seconds(flow.now()), cpu_seconds() - cpu_before};
  say_bye(socket, token, stop);
  if (options.stats_file)
    write_atomically(*options.stats_file, to_json(summary, flow, flow_controller.decision_times()));
  return 0;
}

int help() {
  std::cout << sender_help();
  for (const Scheme& scheme : known_schemes()) {
    const std::string_view separator = scheme.argument.empty() ? "" : ":";
    std::cout << "  " << scheme.name << separator << scheme.argument << "   " << scheme.source << "\n";
  }
  std::cout << "  so:FILE.so[:ARGS]   a library of your own (see ccgym/controller.h); ccgym-sender-so only\n";
  return 0;
}

int run(std::span<char* const> arguments) {
  const CommandLine line{arguments, sender_option_names()};
  know_libraries();
  if (line.has("--help")) return help();
  if (line.has("--version")) {
    std::cout << kProgram << " " CCGYM_VERSION "\n";
    return 0;
  }
  if (line.has("--check")) {
    controller_for(scheme_of(line));
    return 0;
  }
  return run_sender(parse_sender_options(line));
}

}  // namespace

}  // namespace ccgym

int main(int argc, char* argv[]) {
  const std::span<char* const> arguments{argv + 1, static_cast<std::size_t>(argc - 1)};
  return ccgym::run_program(ccgym::kProgram, [&] { return ccgym::run(arguments); });
}
