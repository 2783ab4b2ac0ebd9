#include "tunnel/options.hh"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "deploy/endpoint/command_line.hh"
#include "deploy/endpoint/errors.hh"
#include "deploy/endpoint/file_descriptor.hh"
#include "transport/parse_number.hh"

namespace ccgym::tunnel {

namespace {

constexpr int kUsualMtu = 1500;
constexpr int kMinMtu = 576;   // what every IPv4 host accepts (RFC 791)
constexpr int kMaxMtu = 9000;  // jumbo frames

const OptionNames kOptionNames{.with_value = {"--secret-file", "--bind", "--port", "--interface",
                                              "--ingress-log", "--egress-log", "--mtu", "--local", "--peer"},
                               .switches = {"--compatible", "--offload"}};

int mtu_of_interface(const std::string& interface) {
  const FileDescriptor any{check_system_call("open a socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  if (ioctl(any.number(), SIOCGIFMTU, &request) < 0)
    throw InputError{"--interface " + interface +
                     " is not an interface of this machine: `ip link` lists those"};
  return request.ifr_mtu;
}

int parse_mtu(const std::string& text) {
  const std::optional<int> mtu = parse_number<int>(text);
  if (!mtu || *mtu < kMinMtu || *mtu > kMaxMtu)
    throw InputError{"--mtu " + text + " is not a number of bytes from 576 to 9000"};
  return *mtu;
}

int outer_mtu(const CommandLine& line, const std::optional<std::string>& interface) {
  if (const auto mtu = line.value("--mtu")) return parse_mtu(*mtu);
  return interface ? std::min(mtu_of_interface(*interface), kMaxMtu) : kUsualMtu;
}

void check_authentication(const CommandLine& line, bool compatible) {
  if (compatible && line.has("--secret-file"))
    throw InputError{"--compatible knows no secret: give either --secret-file or --compatible"};
  if (!compatible && !line.has("--secret-file"))
    throw InputError{
        "--secret-file FILE is missing (make one: ccgym-tunnel secret FILE); without a secret: --compatible"};
}

std::optional<PrivateAddresses> chosen_addresses(const CommandLine& line, Role role) {
  const auto local = line.value("--local");
  const auto peer = line.value("--peer");
  if (!local && !peer) return std::nullopt;
  if (role == Role::client) throw InputError{"--local and --peer are the server's to choose"};
  if (!local || !peer) throw InputError{"--local and --peer belong together"};
  return PrivateAddresses{parse_private_address(*local), parse_private_address(*peer)};
}

// The positional arguments, which are taken one by one; the rest is the command.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  std::string take(const char* what) {
    if (next_ == words_.size()) throw InputError{std::string{what} + " is missing: see --help"};
    return words_[next_++];
  }
  std::vector<std::string> rest() const { return {words_.begin() + static_cast<long>(next_), words_.end()}; }

 private:
  std::vector<std::string> words_;
  std::size_t next_{0};
};

// The arguments before "--" that are no options, and all that are behind it.
Words words_of(const CommandLine& line, std::span<char* const> behind) {
  std::vector<std::string> words = line.positional();
  words.insert(words.end(), behind.begin(), behind.end());
  return Words{std::move(words)};
}

}  // namespace

Options parse_options(Role role, bool compatible, std::span<char* const> arguments) {
  const auto separator = std::ranges::find(arguments, std::string_view{"--"});
  const auto before = static_cast<std::size_t>(separator - arguments.begin());
  const CommandLine line{arguments.first(before), kOptionNames};
  Words words = words_of(line, arguments.subspan(std::min(before + 1, arguments.size())));
  compatible = compatible || line.has("--compatible");
  check_authentication(line, compatible);

  Options options{.role = role,
                  .secret_file = line.value("--secret-file"),
                  .interface = line.value("--interface"),
                  .ingress_log = line.value("--ingress-log"),
                  .egress_log = line.value("--egress-log"),
                  .addresses = chosen_addresses(line, role)};
  options.outer_mtu = outer_mtu(line, options.interface);
  if (const auto port = line.value("--port"); port && *port != "0") options.port = parse_port(*port);
  if (const auto address = line.value("--bind")) options.bind = Address{*address, options.port};
  if (role == Role::client) {
    const std::string host = words.take("SERVER_ADDRESS");
    options.server = Address{host, parse_port(words.take("SERVER_PORT"))};
    if (compatible) {
      const in_addr local = parse_private_address(words.take("LOCAL_PRIVATE_ADDRESS"));
      options.addresses = {local, parse_private_address(words.take("SERVER_PRIVATE_ADDRESS"))};
    }
  }
  options.offload = line.has("--offload");
  options.command = words.rest();
  return options;
}

}  // namespace ccgym::tunnel
