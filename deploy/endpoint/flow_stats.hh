// The results of a flow: the JSON of `ccgym-sender --stats FILE`.
#pragma once

#include <filesystem>
#include <string>

#include "deploy/endpoint/histogram.hh"
#include "deploy/endpoint/udp_flow.hh"

namespace ccgym {

struct FlowSummary {
  std::string scheme;
  std::string receiver;
  bool ipv6;
  double seconds;      // duration of the flow
  double cpu_seconds;  // user and system time during the flow
};

// User and system time of this process so far, in seconds.
double cpu_seconds();

// `decision_times`: null if the scheme is not a policy.
std::string to_json(const FlowSummary& summary, const UdpFlow& flow, const DurationHistogram* decision_times);

// Throws InputError if `file` cannot be written.
void check_writable(const std::filesystem::path& file);

// Writes a temporary file and renames it, so that a reader sees the whole text or none. Throws
// std::system_error, or std::filesystem::filesystem_error if the renaming fails.
void write_atomically(const std::filesystem::path& file, const std::string& text);

}  // namespace ccgym
