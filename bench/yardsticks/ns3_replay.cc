// One bulk TCP flow of ns-3 over a link that sends a packet at each time of a trace, as mahimahi's does.
//
// A reference: a program of its own, compiled on demand against the installed ns-3 (libns3-dev) and run as a
// separate process. Prints one line of JSON: the times of each packet, and the window over time. Usage:
// ns3_replay TYPE ONE_WAY_MS QUEUE_PACKETS LOSS SECONDS RUN < TIMES, the times of all opportunities in ms.
// ACKs take a fast path back. Loss is behind the link.
#include <algorithm>
#include <cmath>
#include <deque>
#include <iomanip>
#include <iostream>
#include <iterator>
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

constexpr uint32_t kSegmentBytes = 1412;  // 1464 of IP: ccgym's packets
constexpr uint32_t kPppBytes = 2;         // ns-3's frame around them
constexpr auto kFastRate = "1Gbps";
constexpr uint16_t kPort = 5000;

double now_ms() { return ns3::Simulator::Now().GetSeconds() * 1e3; }

struct Sent {
  double sent_ms;
  uint32_t bytes;
  double departure_ms{NAN};
  double received_ms{NAN};
};

// Packets are identified by their order: none overtakes another, and a callback reports every loss.
class Replay {
 public:
  Replay(ns3::Ptr<ns3::PointToPointNetDevice> device, std::vector<double> opportunities_ms)
      : device_{std::move(device)}, opportunities_ms_{std::move(opportunities_ms)} {}

  void send(ns3::Ptr<const ns3::Packet> packet) {
    waiting_.push_back(packets_.size());
    packets_.push_back({now_ms(), packet->GetSize() - kPppBytes});
  }
  void drop(ns3::Ptr<const ns3::Packet>) { waiting_.pop_back(); }
  // Sets the device's rate so that its packet has left at the trace's next opportunity.
  void begin(ns3::Ptr<const ns3::Packet> packet) {
    while (next_ < opportunities_ms_.size() && opportunities_ms_[next_] < now_ms()) ++next_;
    const double left_ms = next_ < opportunities_ms_.size() ? opportunities_ms_[next_++] - now_ms() : 1e9;
    const double bits_per_s = 8e3 * packet->GetSize() / std::max(left_ms, 1e-6);
    device_->SetDataRate(ns3::DataRate{static_cast<uint64_t>(std::max(bits_per_s, 1.0))});
  }
  void depart(ns3::Ptr<const ns3::Packet>) {
    packets_[waiting_.front()].departure_ms = now_ms();
    on_the_way_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  void receive(ns3::Ptr<const ns3::Packet>) {
    packets_[on_the_way_.front()].received_ms = now_ms();
    on_the_way_.pop_front();
  }
  void lose(ns3::Ptr<const ns3::Packet>) { on_the_way_.pop_front(); }

  void set_window(uint32_t, uint32_t bytes) { windows_.push_back({now_ms(), bytes / double{kSegmentBytes}}); }
  void transmit(ns3::Ptr<const ns3::Packet> segment, const ns3::TcpHeader& header,
                ns3::Ptr<const ns3::TcpSocketBase>) {
    if (segment->GetSize() == 0) return;
    const ns3::SequenceNumber32 first = header.GetSequenceNumber();
    retransmissions_ += first < next_sequence_;
    next_sequence_ = std::max(next_sequence_, first + segment->GetSize());
  }
  void set_state(ns3::TcpSocketState::TcpCongState_t, ns3::TcpSocketState::TcpCongState_t state) {
    timeouts_ += state == ns3::TcpSocketState::CA_LOSS;
  }
  void print(std::ostream& out) const {
    out << std::setprecision(9) << "{\"retransmissions\": " << retransmissions_
        << ", \"timeouts\": " << timeouts_ << ", \"packets\": [";
    for (std::size_t i = 0; i < packets_.size(); ++i) {
      const Sent& each = packets_[i];
      out << (i ? ", [" : "[") << each.sent_ms << ", " << each.bytes << ", ";
      number(out, each.departure_ms);
      number(out << ", ", each.received_ms);
      out << ']';
    }
    out << "], \"windows\": [";
    for (std::size_t i = 0; i < windows_.size(); ++i)
      out << (i ? ", [" : "[") << windows_[i].first << ", " << windows_[i].second << ']';
    out << "]}\n";
  }

 private:
  static void number(std::ostream& out, double value) {
    if (std::isnan(value))
      out << "null";
    else
      out << value;
  }

  ns3::Ptr<ns3::PointToPointNetDevice> device_;
  std::vector<double> opportunities_ms_;
  std::size_t next_{0};
  std::vector<Sent> packets_{};
  std::deque<std::size_t> waiting_{};     // of packets_: in the queue and the device
  std::deque<std::size_t> on_the_way_{};  // behind the link
  std::vector<std::pair<double, double>> windows_{};
  ns3::SequenceNumber32 next_sequence_{0};
  uint32_t retransmissions_{0};
  uint32_t timeouts_{0};
};

void set_defaults(const std::string& type) {
  using namespace ns3;
  TypeId found;
  if (!TypeId::LookupByNameFailSafe("ns3::" + type, &found))
    throw std::invalid_argument("ns-3 has no " + type);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(found));
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegmentBytes));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
}

ns3::NetDeviceContainer connect(const ns3::NodeContainer& ends, double one_way_ms, const std::string& queue,
                                double loss) {
  using namespace ns3;
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", DataRateValue(DataRate{kFastRate}));
  link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(one_way_ms * 1e3))));
  NetDeviceContainer devices = link.Install(ends);
  const auto sender = DynamicCast<PointToPointNetDevice>(devices.Get(0));
  sender->GetQueue()->SetMaxSize(QueueSize{queue + "p"});
  const auto losses = CreateObject<RateErrorModel>();
  losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
  losses->SetRate(loss);
  DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetReceiveErrorModel(losses);
  return devices;
}

ns3::Ipv4Address address(const ns3::NetDeviceContainer& devices) {
  ns3::Ipv4AddressHelper addresses{"10.0.1.0", "255.255.255.0"};
  const ns3::Ipv4Address receiver = addresses.Assign(devices).GetAddress(1);
  ns3::TrafficControlHelper{}.Uninstall(devices);  // removes ns-3's own queue in front of the link's
  return receiver;
}

void watch_link(const ns3::NetDeviceContainer& devices, Replay& replay) {
  using namespace ns3;
  const Ptr<NetDevice> sender = devices.Get(0), receiver = devices.Get(1);
  sender->TraceConnectWithoutContext("MacTx", MakeCallback(&Replay::send, &replay));
  sender->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&Replay::drop, &replay));
  sender->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Replay::begin, &replay));
  sender->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Replay::depart, &replay));
  receiver->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Replay::lose, &replay));
  receiver->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Replay::receive, &replay));
}

void watch_socket(Replay* replay) {
  using namespace ns3;
  const std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/";
  Config::ConnectWithoutContext(socket + "CongestionWindow", MakeCallback(&Replay::set_window, replay));
  Config::ConnectWithoutContext(socket + "CongState", MakeCallback(&Replay::set_state, replay));
  Config::ConnectWithoutContext(socket + "Tx", MakeCallback(&Replay::transmit, replay));
}

void run(const std::string& type, double one_way_ms, const std::string& queue, double loss, double seconds,
         uint64_t run) {
  ns3::RngSeedManager::SetRun(run);
  set_defaults(type);
  ns3::NodeContainer nodes{2};
  ns3::InternetStackHelper{}.Install(nodes);
  const ns3::NetDeviceContainer devices = connect(nodes, one_way_ms, queue, loss);
  const ns3::InetSocketAddress to{address(devices), kPort};
  ns3::BulkSendHelper bulk{"ns3::TcpSocketFactory", to};
  bulk.SetAttribute("SendSize", ns3::UintegerValue(kSegmentBytes));
  bulk.Install(nodes.Get(0));
  ns3::PacketSinkHelper{"ns3::TcpSocketFactory", to}.Install(nodes.Get(1));

  Replay replay{ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(0)),
                {std::istream_iterator<double>{std::cin}, {}}};
  watch_link(devices, replay);
  ns3::Simulator::Schedule(ns3::MicroSeconds(1), &watch_socket, &replay);  // the socket does not exist before
  ns3::Simulator::Stop(ns3::Seconds(seconds));
  ns3::Simulator::Run();
  replay.print(std::cout);
  ns3::Simulator::Destroy();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 7)
      throw std::invalid_argument("usage: ns3_replay TYPE ONE_WAY_MS QUEUE_PACKETS LOSS SECONDS RUN < TIMES");
    run(argv[1], std::stod(argv[2]), argv[3], std::stod(argv[4]), std::stod(argv[5]), std::stoul(argv[6]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
