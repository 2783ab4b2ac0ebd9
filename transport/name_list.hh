// The list of known names in an error message.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ccgym {

// "a, b, c": the names of the elements of `range`; `name_of` returns the name of an element.
template <class Range, class NameOf = std::identity>
std::string name_list(const Range& range, NameOf name_of = {}) {
  std::string list;
  for (const auto& element : range) {
    if (!list.empty()) list += ", ";
    list += std::string_view{std::invoke(name_of, element)};
  }
  return list;
}

}  // namespace ccgym
