#include "agents/controllers/checked.hh"

#include <sstream>
#include <stdexcept>

namespace ccgym {

double checked(std::string_view what, double value, double least, double most) {
  if (value >= least && value <= most) return value;
  std::ostringstream complaint;
  complaint << what << " is " << value << ", should be from " << least << " to " << most;
  throw std::invalid_argument(complaint.str());
}

}  // namespace ccgym
