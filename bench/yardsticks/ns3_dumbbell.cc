// One bulk TCP flow over a dumbbell in ns-3: sender == router -- router == receiver, the middle link slow.
//
// A yardstick: a program of its own, compiled on demand against the installed ns-3 (libns3-dev) and run as a
// separate process. Prints one line of JSON. Usage:
// ns3_dumbbell TYPE MBPS ONE_WAY_MS QUEUE_PACKETS SECONDS WARM_UP_SECONDS RUN [QUEUE]
// The figures leave out the warm-up. With QUEUE the queue marks and TYPE uses ECN: step:THRESHOLD or
// red:MIN:MAX:PROBABILITY:WEIGHT, in packets, or codel:TARGET:INTERVAL, in ms. Without it the queue is
// droptail.
#include <ctime>
#include <deque>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

namespace {

constexpr uint32_t kIpBytes = 1464;                // of ccgym's data packets
constexpr uint32_t kSegmentBytes = kIpBytes - 52;  // less the IP header and TCP's with a timestamp
constexpr uint32_t kPppBytes = 2;                  // ns-3's frame around them
constexpr auto kAccessRate = "10Gbps";
constexpr uint16_t kPort = 5000;

struct Dumbbell {
  std::string type;  // ns-3's name: TcpCubic, TcpVegas, ...
  double mbps;
  double one_way_ms;
  uint32_t queue_packets;
  double seconds;
  double warm_up_seconds;
  std::vector<std::string> marking;  // the discipline's name and arguments
};

// Counts what passed the slow link. A packet is in it from its arrival until its last byte has left.
struct Bottleneck {
  ns3::Time warm_up;
  std::deque<ns3::Time> entered{};
  uint64_t all_packets{0};
  uint64_t packets{0};  // this and the next: after the warm-up
  uint64_t bytes{0};
  double in_link_s{0};

  void wait(ns3::Ptr<const ns3::QueueDiscItem>) { entered.push_back(ns3::Simulator::Now()); }
  void enter(ns3::Ptr<const ns3::Packet>) { entered.push_back(ns3::Simulator::Now()); }
  void leave(ns3::Ptr<const ns3::Packet> packet) {
    const ns3::Time arrival = entered.front();
    entered.pop_front();
    ++all_packets;
    if (ns3::Simulator::Now() < warm_up) return;
    ++packets;
    bytes += packet->GetSize() - kPppBytes;
    in_link_s += (ns3::Simulator::Now() - arrival).GetSeconds();
  }
};

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

void set_defaults(const Dumbbell& dumbbell) {
  using namespace ns3;
  TypeId type;
  if (!TypeId::LookupByNameFailSafe("ns3::" + dumbbell.type, &type))
    throw std::invalid_argument("ns-3 has no " + dumbbell.type);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(type));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegmentBytes));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1U << 26));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1U << 26));
  if (!dumbbell.marking.empty())
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(TcpSocketState::On));
}

// Besides those of the discipline one packet waits in the device, and packets wait one packet's time longer.
void set_codel(ns3::TrafficControlHelper& discipline, const Dumbbell& dumbbell) {
  using namespace ns3;
  const double packet_ms = 8e-3 * (kIpBytes + kPppBytes) / dumbbell.mbps;
  const auto ms = [](double time_ms) { return TimeValue(Seconds(time_ms / 1e3)); };
  discipline.SetRootQueueDisc("ns3::CoDelQueueDisc", "UseEcn", BooleanValue(true), "Target",
                              ms(std::stod(dumbbell.marking.at(1)) - packet_ms), "Interval",
                              ms(std::stod(dumbbell.marking.at(2))), "MaxSize",
                              QueueSizeValue({QueueSizeUnit::PACKETS, dumbbell.queue_packets}));
}

// ns-3's RED marks by the mean length. A step is a RED that uses the present length (a weight of 1) and has
// two equal thresholds. A packet that finds the threshold's number of packets waiting makes the queue exceed
// it.
void set_red(ns3::TrafficControlHelper& discipline, const Dumbbell& dumbbell) {
  using namespace ns3;
  const auto number = [&dumbbell](std::size_t i) { return std::stod(dumbbell.marking.at(i)); };
  const bool step = dumbbell.marking.at(0) == "step";
  const double least = step ? number(1) : number(1) - 1;
  const double most = step ? least : number(2) - 1;
  discipline.SetRootQueueDisc(
      "ns3::RedQueueDisc", "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(!step), "Gentle",
      BooleanValue(!step), "Wait", BooleanValue(false), "MinTh", DoubleValue(least), "MaxTh",
      DoubleValue(most), "LInterm", DoubleValue(step ? 1 : 1 / number(3)), "QW",
      DoubleValue(step ? 1 : number(4)), "MeanPktSize", UintegerValue(kIpBytes), "LinkBandwidth",
      DataRateValue(DataRate{static_cast<uint64_t>(dumbbell.mbps * 1e6)}), "LinkDelay",
      TimeValue(MilliSeconds(static_cast<uint64_t>(dumbbell.one_way_ms))), "MaxSize",
      QueueSizeValue({QueueSizeUnit::PACKETS, dumbbell.queue_packets}));
}

void set_marking(ns3::TrafficControlHelper& discipline, const Dumbbell& dumbbell) {
  dumbbell.marking.at(0) == "codel" ? set_codel(discipline, dumbbell) : set_red(discipline, dumbbell);
}

ns3::NetDeviceContainer connect(const ns3::NodeContainer& ends, const ns3::DataRate& rate, ns3::Time delay,
                                uint32_t queue_packets) {
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::DataRateValue(rate));
  link.SetChannelAttribute("Delay", ns3::TimeValue(delay));
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                ns3::QueueSizeValue({ns3::QueueSizeUnit::PACKETS, queue_packets}));
  return link.Install(ends);
}

// Addresses every pair of devices and takes ns-3's own queueing discipline out of the way.
ns3::Ipv4Address address(const std::vector<ns3::NetDeviceContainer>& links, const Dumbbell& dumbbell) {
  ns3::Ipv4AddressHelper addresses{"10.0.1.0", "255.255.255.0"};
  ns3::TrafficControlHelper discipline;
  if (!dumbbell.marking.empty()) set_marking(discipline, dumbbell);
  ns3::Ipv4InterfaceContainer last;
  for (const ns3::NetDeviceContainer& devices : links) {
    last = addresses.Assign(devices);
    addresses.NewNetwork();
    ns3::TrafficControlHelper{}.Uninstall(devices);
  }
  if (!dumbbell.marking.empty()) discipline.Install(links.at(1).Get(0));
  ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  return last.GetAddress(1);
}

void start_flow(ns3::Ptr<ns3::Node> sender, ns3::Ptr<ns3::Node> receiver, ns3::Ipv4Address to) {
  ns3::BulkSendHelper bulk{"ns3::TcpSocketFactory", ns3::InetSocketAddress{to, kPort}};
  bulk.SetAttribute("SendSize", ns3::UintegerValue(kSegmentBytes));
  bulk.Install(sender);
  ns3::PacketSinkHelper sink{"ns3::TcpSocketFactory",
                             ns3::InetSocketAddress{ns3::Ipv4Address::GetAny(), kPort}};
  sink.Install(receiver);
}

void watch_arrivals(const ns3::Ptr<ns3::PointToPointNetDevice>& device, Bottleneck& bottleneck) {
  const auto control = device->GetNode()->GetObject<ns3::TrafficControlLayer>();
  const auto discipline = control->GetRootQueueDiscOnDevice(device);
  if (discipline) {
    discipline->TraceConnectWithoutContext("Enqueue", ns3::MakeCallback(&Bottleneck::wait, &bottleneck));
  } else {
    device->GetQueue()->TraceConnectWithoutContext("Enqueue",
                                                   ns3::MakeCallback(&Bottleneck::enter, &bottleneck));
  }
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(const Dumbbell& dumbbell) {
  set_defaults(dumbbell);
  ns3::NodeContainer nodes{4};
  ns3::InternetStackHelper{}.Install(nodes);
  const ns3::DataRate fast{kAccessRate};
  const ns3::DataRate slow{static_cast<uint64_t>(dumbbell.mbps * 1e6)};
  const ns3::Time delay = ns3::MicroSeconds(static_cast<uint64_t>(dumbbell.one_way_ms * 1e3));
  const auto pair = [&nodes](uint32_t i) { return ns3::NodeContainer{nodes.Get(i), nodes.Get(i + 1)}; };
  // Packets wait in the discipline; the device itself holds only the packet that it sends.
  const auto middle = connect(pair(1), slow, delay, dumbbell.marking.empty() ? dumbbell.queue_packets : 1);
  const ns3::Ipv4Address to = address({connect(pair(0), fast, ns3::Time{0}, 1U << 20), middle,
                                       connect(pair(2), fast, ns3::Time{0}, 1U << 20)},
                                      dumbbell);
  Bottleneck bottleneck{ns3::Seconds(dumbbell.warm_up_seconds)};
  const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(middle.Get(0));
  watch_arrivals(device, bottleneck);
  device->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeCallback(&Bottleneck::leave, &bottleneck));
  start_flow(nodes.Get(0), nodes.Get(3), to);

  ns3::Simulator::Stop(ns3::Seconds(dumbbell.seconds));
  const double began = cpu_seconds();
  ns3::Simulator::Run();
  const double cpu_s = cpu_seconds() - began;
  const double measured_s = dumbbell.seconds - dumbbell.warm_up_seconds;
  std::cout << "{\"throughput_mbps\": " << static_cast<double>(bottleneck.bytes) * 8e-6 / measured_s
            << ", \"mean_queueing_ms\": "
            << bottleneck.in_link_s * 1e3 / static_cast<double>(bottleneck.packets)
            << ", \"packets_per_cpu_s\": " << static_cast<double>(bottleneck.all_packets) / cpu_s << "}\n";
  ns3::Simulator::Destroy();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 8 && argc != 9)
      throw std::invalid_argument(
          "usage: ns3_dumbbell TYPE MBPS ONE_WAY_MS QUEUE_PACKETS SECONDS WARM_UP RUN [QUEUE]");
    ns3::RngSeedManager::SetRun(std::stoul(argv[7]));
    run({argv[1], std::stod(argv[2]), std::stod(argv[3]), static_cast<uint32_t>(std::stoul(argv[4])),
         std::stod(argv[5]), std::stod(argv[6]), split(argc == 9 ? argv[8] : "")});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
