// The table of queues.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "envs/twin/queues/codel.hh"
#include "envs/twin/queues/drophead.hh"
#include "envs/twin/queues/pie.hh"
#include "envs/twin/queues/queue_spec.hh"
#include "envs/twin/queues/red.hh"
#include "envs/twin/queues/step.hh"
#include "transport/name_list.hh"

namespace ccgym {

namespace {

using Discipline = std::unique_ptr<QueueDiscipline>;

struct TableEntry {
  std::string_view name;
  std::vector<QueueKey> (*keys)();
  Discipline (*make)(const QueueSpec& queue, const QueueSetting& setting);
};

template <class Queue>
std::vector<QueueKey> keys_of() {
  std::vector<QueueKey> keys;
  for (const auto& parameter : Queue::kParameters) keys.push_back(parameter.key);
  return keys;
}

template <class Queue>
Discipline make(const QueueSpec& queue, const QueueSetting& setting) {
  typename Queue::Parameters parameters;
  for (const auto& [name, value] : queue.parameters) {
    for (const auto& parameter : Queue::kParameters)
      if (parameter.key.name == name) parameter.assign(parameters, value);
  }
  return std::make_unique<Queue>(parameters, setting);
}

template <class Queue>
constexpr TableEntry row() {
  return {Queue::kName, keys_of<Queue>, make<Queue>};
}

// Queues without a discipline.
constexpr TableEntry plain_row(std::string_view name) {
  return {name, [] { return std::vector<QueueKey>{}; },
          [](const QueueSpec&, const QueueSetting&) { return Discipline{}; }};
}

// One per line, so that a new queue is one more line.
constexpr std::array kTable{
    plain_row("infinite"),  // never asked whether there is room
    plain_row("droptail"),  //
    row<DropHead>(),        //
    row<CoDel>(),           //
    row<Pie>(),             //
    row<Red>(),             //
    row<Step>(),            //
};

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::ostringstream problem;
  (problem << ... << parts);
  throw std::invalid_argument(problem.str());
}

const TableEntry& entry_of(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &TableEntry::name);
  if (found != kTable.end()) return *found;
  refuse("unknown queue '", name, "': known are ", name_list(kTable, &TableEntry::name));
}

void check_limits(const QueueSpec& queue) {
  const bool limited = queue.packets > 0 || queue.bytes > 0;
  if (queue.packets < 0 || queue.bytes < 0) refuse("a queue's limit must not be negative");
  if (queue.kind == "infinite" && limited)
    refuse("an infinite queue takes no packets or bytes; a limited one is queue: droptail");
  if (queue.kind != "infinite" && !limited) refuse("a ", queue.kind, " queue needs packets or bytes");
}

void check_value(const QueueKey& key, double value) {
  const bool whole = key.value != QueueValue::real;
  if (!(value >= key.least && value <= key.most) || (whole && value != std::floor(value)))
    refuse(key.name, ": ", value, " is not ", whole ? "a whole number " : "", "within [", key.least, ", ",
           key.most, "]");
}

void check_parameters(const QueueSpec& queue, const std::vector<QueueKey>& keys) {
  for (const auto& [name, value] : queue.parameters) {
    const auto key = std::ranges::find(keys, name, &QueueKey::name);
    if (key == keys.end()) refuse("queue ", queue.kind, " does not take ", name);
    check_value(*key, value);
  }
  for (const QueueKey& key : keys) {
    const auto is_it = [&key](const auto& given) { return given.first == key.name; };
    if (key.needed && std::ranges::none_of(queue.parameters, is_it))
      refuse("queue ", queue.kind, " needs ", key.name);
  }
}

}  // namespace

std::vector<QueueKind> known_queues() {
  std::vector<QueueKind> kinds;
  for (const TableEntry& entry : kTable) kinds.push_back({entry.name, entry.keys()});
  return kinds;
}

QueueSpec checked(const QueueSpec& queue) {
  const TableEntry& entry = entry_of(queue.kind);
  check_limits(queue);
  check_parameters(queue, entry.keys());
  static_cast<void>(entry.make(queue, {}));  // for the checks that only the discipline itself can make
  return queue;
}

std::unique_ptr<QueueDiscipline> make_discipline(const QueueSpec& queue, const QueueSetting& setting) {
  return entry_of(queue.kind).make(checked(queue), setting);
}

}  // namespace ccgym
