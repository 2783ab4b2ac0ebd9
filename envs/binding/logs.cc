// Reading and writing of packet logs, piece by piece.
#include "envs/binding/bind.hh"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "envs/binding/arrays.hh"
#include "envs/logs/event_parser.hh"
#include "envs/logs/merged_lines.hh"

namespace ccgym {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> span_of(const Input<T>& array) {
  return {array.data(), array.size()};
}

using Numbers = std::variant<NumpyVector<double>, NumpyVector<int64_t>, NumpyVector<int32_t>>;

Numbers take(EventParser& parser, char kind, std::size_t field) {
  return std::visit([](auto column) -> Numbers { return to_numpy(std::move(column)); },
                    parser.take(kind, field));
}

void feed(EventParser& parser, const nb::bytes& piece) {
  const std::string_view text{piece.c_str(), piece.size()};
  const nb::gil_scoped_release unlocked;
  parser.feed(text);
}

// MergedLines, and the arrays that its lines are made from, so that they live as long.
struct LinesOfArrays {
  MergedLines lines{};
  std::vector<Input<double>> numbers{};
  std::vector<Input<int32_t>> sizes{};

  std::span<const double> kept(const Input<double>& array) { return span_of(numbers.emplace_back(array)); }
  std::span<const int32_t> kept(const Input<int32_t>& array) { return span_of(sizes.emplace_back(array)); }
};

std::string next(LinesOfArrays& self, std::size_t characters) {
  const nb::gil_scoped_release unlocked;
  return self.lines.next(characters);
}

void bind_event_parser(nb::module_& module) {
  nb::class_<EventParser>(module, "EventParser",
                          "Reads a log of one event per line, piece by piece; see envs/logs/event_parser.hh.")
      .def(
          "__init__",
          [](EventParser* self, EventLayouts layouts, bool ordered, int64_t first_line) {
            new (self) EventParser{std::move(layouts),
                                   ordered ? EventParser::Order::kept : EventParser::Order::any, first_line};
          },
          "layouts"_a, nb::kw_only(), "ordered"_a, "first_line"_a)
      .def("feed", &feed, "piece"_a,
           "Parses the next piece. ValueError, \"LINE: 'CONTENT' what is wrong\", for a malformed line.")
      .def("finish", &EventParser::finish,
           "To be called at the end of the log, whose last line may lack its newline.")
      .def("take", &take, "kind"_a, "field"_a,
           "The numbers in this field of all lines of this kind; to be called once for each field.")
      .def_prop_ro("cut_in_mid_line", &EventParser::cut_in_mid_line)
      .def_prop_ro("backwards", &EventParser::backwards)
      .def_prop_ro("most_backwards_ms", &EventParser::most_backwards_ms);
}

void bind_merged_lines(nb::module_& module) {
  nb::class_<LinesOfArrays>(module, "MergedLines",
                            "The lines of a merged log, from sorted columns; see envs/logs/merged_lines.hh.")
      .def(nb::init<>())
      .def(
          "add_opportunities",
          [](LinesOfArrays& self, const Input<double>& times_ms, int32_t bytes) {
            self.lines.add_opportunities(self.kept(times_ms), bytes);
          },
          "times_ms"_a, "bytes"_a)
      .def(
          "add_sent",
          [](LinesOfArrays& self, const Input<double>& times_ms, const Input<int32_t>& bytes, int64_t flow) {
            self.lines.add_sent(self.kept(times_ms), self.kept(bytes), flow);
          },
          "times_ms"_a, "bytes"_a, "flow"_a)
      .def(
          "add_received",
          [](LinesOfArrays& self, const Input<double>& times_ms, const Input<int32_t>& bytes,
             const Input<double>& delays_ms, double propagation_ms, int64_t flow) {
            self.lines.add_received(self.kept(times_ms), self.kept(bytes), self.kept(delays_ms),
                                    propagation_ms, flow);
          },
          "times_ms"_a, "bytes"_a, "delays_ms"_a, "propagation_ms"_a, "flow"_a)
      .def("next", &next, "characters"_a,
           "The next whole lines, about `characters` long together; empty at the end.");
}

}  // namespace

void bind_logs(nb::module_& module) {
  bind_event_parser(module);
  bind_merged_lines(module);
}

}  // namespace ccgym
