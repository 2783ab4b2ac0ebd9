// Instantiates the twin for controllers of any class, which it calls through the virtual interface.
#include "envs/twin/twin.hh"

namespace ccgym {

template class Twin<CongestionController>;

}  // namespace ccgym
