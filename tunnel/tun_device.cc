#include "tunnel/tun_device.hh"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {

namespace {

constexpr const char* kTunFile = "/dev/net/tun";

ifreq request_for(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  return request;
}

sockaddr socket_address(in_addr address) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr = address;
  sockaddr any{};
  std::memcpy(&any, &ipv4, sizeof any);
  return any;
}

FileDescriptor open_tun_file() {
  const int number = open(kTunFile, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (number >= 0) return FileDescriptor{number};
  const std::string file = kTunFile;
  if (errno == EACCES) throw InputError{"may not use " + file + ": run as root, or: sudo chmod 666 " + file};
  throw InputError{file + ": " + std::strerror(errno) + "; `ccgym doctor` knows how to mend it"};
}

// Otherwise the kernel's router solicitations would be the first packets of every log.
void disable_ipv6() { std::ofstream{"/proc/sys/net/ipv6/conf/default/disable_ipv6"} << "1\n"; }

class Configurator {
 public:
  void set_address(unsigned long which, const char* attempt, in_addr address) {
    ifreq request = request_for(kDeviceName);
    request.ifr_addr = socket_address(address);
    control(which, attempt, request);
  }

  void set_mtu(int mtu) {
    ifreq request = request_for(kDeviceName);
    request.ifr_mtu = mtu;
    control(SIOCSIFMTU, "set the MTU", request);
  }

  void set_up(const char* device) {
    ifreq request = request_for(device);
    control(SIOCGIFFLAGS, "read the device's flags", request);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    control(SIOCSIFFLAGS, "set the device up", request);
  }

  void route_all_to(in_addr gateway) {
    rtentry route{};
    route.rt_dst = socket_address({});
    route.rt_genmask = socket_address({});
    route.rt_gateway = socket_address(gateway);
    route.rt_flags = RTF_UP | RTF_GATEWAY;
    check_system_call("set the default route", ioctl(socket_.number(), SIOCADDRT, &route));
  }

 private:
  void control(unsigned long which, const char* attempt, ifreq& request) {
    check_system_call(attempt, ioctl(socket_.number(), which, &request));
  }

  FileDescriptor socket_{check_system_call("open a socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))};
};

}  // namespace

FileDescriptor open_tun(bool offload) {
  disable_ipv6();
  FileDescriptor tun = open_tun_file();
  ifreq request = request_for(kDeviceName);
  request.ifr_flags = static_cast<short>(IFF_TUN | IFF_NO_PI | (offload ? IFF_VNET_HDR : 0));
  const int made = ioctl(tun.number(), TUNSETIFF, &request);
  if (made < 0 && errno == EPERM)
    throw InputError{"may not make a TUN device: run as root or with CAP_NET_ADMIN and CAP_SYS_ADMIN"};
  check_system_call("make a TUN device", made);
  if (offload) check_system_call("offload TCP", ioctl(tun.number(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4));
  return tun;
}

void configure_tun(const PrivateAddresses& addresses, int mtu) {
  Configurator configurator;
  configurator.set_up("lo");
  configurator.set_address(SIOCSIFADDR, "set the local address", addresses.local);
  configurator.set_address(SIOCSIFDSTADDR, "set the peer's address", addresses.peer);
  configurator.set_mtu(mtu);
  configurator.set_up(kDeviceName);
  configurator.route_all_to(addresses.peer);
}

}  // namespace ccgym::tunnel
