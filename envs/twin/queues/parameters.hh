// The parameters that a spec may give a queue, and the fields that keep them.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace ccgym {

enum class QueueValue { real, whole, flag };

struct QueueKey {
  std::string_view name;  // with its unit
  QueueValue value;
  double least;
  double most;
  bool needed;
};

template <class Value>
constexpr QueueValue kQueueValue = std::is_same_v<Value, double> ? QueueValue::real
                                   : std::is_same_v<Value, bool> ? QueueValue::flag
                                                                 : QueueValue::whole;

template <class Parameters>
struct QueueParameter {
  QueueKey key;
  std::variant<int64_t Parameters::*, double Parameters::*, bool Parameters::*> member;

  void assign(Parameters& parameters, double value) const {
    std::visit(
        [&](auto pointer) {
          parameters.*pointer = static_cast<std::remove_reference_t<decltype(parameters.*pointer)>>(value);
        },
        member);
  }
};

// A parameter that must be given.
template <class Parameters, class Value>
constexpr QueueParameter<Parameters> needed(std::string_view name, Value Parameters::* member, double least,
                                            double most) {
  return {{name, kQueueValue<Value>, least, most, true}, member};
}

// A parameter that may be left out; its default is that of Parameters.
template <class Parameters, class Value>
constexpr QueueParameter<Parameters> optional(std::string_view name, Value Parameters::* member, double least,
                                              double most) {
  return {{name, kQueueValue<Value>, least, most, false}, member};
}

}  // namespace ccgym
