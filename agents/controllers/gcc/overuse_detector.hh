// Over-use detector of Google Congestion Control (draft-ietf-rmcat-gcc-02, section 5.4): the link is
// over-used if the delay estimate has been above an adaptive threshold for at least 10 ms and does not fall.
#pragma once

#include "agents/controllers/gcc/arrival_filter.hh"

namespace ccgym {

enum class LinkUse { normal, over, under };  // the draft's signals: normal, overuse, underuse

class OveruseDetector {
 public:
  // To be called for each estimate of the filter, in their order.
  LinkUse detect(const ArrivalFilter::Estimate& estimate);

  [[nodiscard]] double threshold_ms() const { return threshold_ms_; }

 private:
  void adapt(double offset_ms, double elapsed_ms);

  double threshold_ms_{12.5};  // del_var_th(0)
  double last_gradient_ms_{0};
  std::optional<Time> last_arrival_{};
  std::optional<Time> over_since_{};
};

}  // namespace ccgym
