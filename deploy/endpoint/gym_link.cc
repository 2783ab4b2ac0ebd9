#include "deploy/endpoint/gym_link.hh"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

constexpr auto kUnknownPackets = std::numeric_limits<double>::quiet_NaN();

FileDescriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw InputError{"--gym " + path + ": the path is too long"};
  std::ranges::copy(path, address.sun_path);
  FileDescriptor socket{check_system_call("socket", ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0))};
  check_system_call(path.c_str(),
                    connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  return socket;
}

std::size_t queue_column() {
  return static_cast<std::size_t>(
      std::distance(kTelemetry.begin(), std::ranges::find(kTelemetry, "queue_packets")));
}

}  // namespace

GymLink::GymLink(const std::string& path, const PolicySpec& policy, const ControllerConfig& config)
    : socket_{connect_to(path)}, policy_{policy, config}, action_size_{action_size(policy.actions)} {}

void GymLink::report(Time now, const Sender<>& sender) {
  if (!policy_.awaiting_action() || reported_) return;
  std::vector<double> record(kTelemetry.size());
  meter_.measure(now, sender, policy_, 0, record);
  record[queue_column()] = kUnknownPackets;
  record.insert(record.end(), policy_.observation().begin(), policy_.observation().end());
  const auto sent = send(descriptor(), record.data(), record.size() * sizeof(double), MSG_NOSIGNAL);
  check_system_call("send to the gym", static_cast<int>(sent));
  reported_ = true;
}

bool GymLink::take_action() {
  std::array<double, 2> numbers{};
  const auto received = recv(descriptor(), numbers.data(), sizeof numbers, 0);
  check_system_call("read from the gym", static_cast<int>(received));
  if (received != static_cast<ssize_t>(action_size_ * sizeof(double))) return false;
  if (policy_.awaiting_action())
    policy_.act({static_cast<float>(numbers[0]), static_cast<float>(numbers[1])});
  reported_ = false;
  return true;
}

}  // namespace ccgym
