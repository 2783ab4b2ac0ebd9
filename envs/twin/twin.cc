// The twin of any controllers, for all that have no need of one that calls theirs directly.
#include "envs/twin/twin.hh"

namespace ccgym {

template class Twin<CongestionController>;

}  // namespace ccgym
