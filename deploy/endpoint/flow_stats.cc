#include "deploy/endpoint/flow_stats.hh"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "deploy/endpoint/address.hh"
#include "deploy/endpoint/errors.hh"

namespace ccgym {

namespace {

nlohmann::ordered_json quantiles(const DurationHistogram& times,
                                 std::chrono::duration<double, std::nano> unit) {
  return {{"p50", times.quantile(0.5) / unit},
          {"p95", times.quantile(0.95) / unit},
          {"p99", times.quantile(0.99) / unit}};
}

std::vector<double> in_ms_of(const std::vector<Time>& times) {
  std::vector<double> ms;
  for (const Time time : times) ms.push_back(in_ms(time));
  return ms;
}

double throughput_mbps(const FlowSummary& summary, int64_t packets) {
  const int64_t ip_bytes = int64_t{kDataBytes} + udp_ip_header_bytes(summary.ipv6);
  return static_cast<double>(8 * packets * ip_bytes) / 1e6 / summary.seconds;
}

}  // namespace

double cpu_seconds() {
  rusage usage{};
  check_system_call("getrusage", getrusage(RUSAGE_SELF, &usage));
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string to_json(const FlowSummary& summary, const UdpFlow& flow,
                    const DurationHistogram* decision_times) {
  const Sender<>& sender = flow.sender();
  nlohmann::ordered_json json{{"scheme", summary.scheme},
                              {"receiver", summary.receiver},
                              {"seconds", summary.seconds},
                              {"sent_packets", sender.sent_packets()},
                              {"acked_packets", sender.delivered_packets()},
                              {"lost_packets", sender.lost_packets()},
                              {"marked_packets", sender.ce_packets()},
                              {"received_packets", flow.received_packets()},
                              {"failed_sends", flow.failed_sends()},
                              {"ignored_datagrams", flow.ignored_datagrams()},
                              {"throughput_mbps", throughput_mbps(summary, sender.delivered_packets())},
                              {"rtt_ms", quantiles(flow.rtts(), std::chrono::milliseconds{1})},
                              {"completion_ms", in_ms_of(flow.traffic().completion_times())},
                              {"cpu_seconds", summary.cpu_seconds}};
  if (decision_times != nullptr) {
    json["decisions"] = decision_times->count();
    json["decision_us"] = quantiles(*decision_times, std::chrono::microseconds{1});
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n";
}

void check_writable(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  if (access(folder.c_str(), W_OK) < 0) throw InputError{file.string() + ": the folder cannot be written to"};
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    throw InputError{file.string() + ": not a regular file: the name of one would be right"};
}

void write_atomically(const std::filesystem::path& file, const std::string& text) {
  const std::string temporary = file.string() + ".partial-" + std::to_string(getpid());
  try {
    const FileDescriptor out{check_system_call(
        temporary.c_str(), open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644))};
    for (std::string_view rest = text; !rest.empty();)
      rest.remove_prefix(static_cast<std::size_t>(check_system_call(
          temporary.c_str(), static_cast<int>(write(out.number(), rest.data(), rest.size())))));
    std::filesystem::rename(temporary, file);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

}  // namespace ccgym
