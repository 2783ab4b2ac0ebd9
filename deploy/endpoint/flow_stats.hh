// The results of a flow, as the JSON of `ccgym-sender --stats FILE`.
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
  double seconds;
  double cpu_seconds;
};

// User and system time of this process so far.
double cpu_seconds();

// `decision_times`: null for a scheme that is no policy.
std::string to_json(const FlowSummary& summary, const UdpFlow& flow, const DurationHistogram* decision_times);

// Throws InputError if `file` cannot be written.
void check_writable(const std::filesystem::path& file);

// Writes under a temporary name, then renames: a reader sees all of the text or none. Throws
// std::system_error.
void write_atomically(const std::filesystem::path& file, const std::string& text);

}  // namespace ccgym
