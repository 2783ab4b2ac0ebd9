// Checks of numbers from Python. Each returns its value, or throws std::invalid_argument with the text
// "`what` VALUE is not ...".
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "envs/twin/path.hh"
#include "envs/twin/timing.hh"

namespace ccgym {

[[noreturn]] inline void refuse(const char* what, double value, const char* wanted) {
  throw std::invalid_argument((std::ostringstream{} << what << " " << value << " is not " << wanted).str());
}

inline double checked_share(const char* what, double share) {
  if (!(share >= 0 && share <= 1)) refuse(what, share, "within [0, 1]");
  return share;
}

inline double checked_size(const char* what, double value) {
  if (!(value >= 0 && std::isfinite(value))) refuse(what, value, "finite and at least 0");
  return value;
}

inline double checked_delay(const char* what, double delay_ms) {
  if (!(delay_ms >= 0 && delay_ms <= kMaxMs)) refuse(what, delay_ms, "within 0 and 1e12");
  return delay_ms;
}

inline double checked_end(const char* what, double start, double stop) {
  if (!(stop > start)) refuse(what, stop, "after the start");
  return stop;
}

// Both 0: always on.
inline OnOffSpec checked_onoff(double mean_on_ms, double mean_off_ms) {
  if ((mean_on_ms > 0) != (mean_off_ms > 0))
    throw std::invalid_argument("mean_on_ms and mean_off_ms go together: give both or none");
  if (mean_on_ms > 0) check_sojourns(mean_on_ms, mean_off_ms);
  return {checked_size("mean_on_ms", mean_on_ms), checked_size("mean_off_ms", mean_off_ms)};
}

}  // namespace ccgym
