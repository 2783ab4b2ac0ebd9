// A matrix that Python hands over, read through the buffer protocol: nanobind's own cast of a numpy array
// takes several times as long, and a step of few paths has three.
#pragma once

#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace ccgym {

// C-contiguous (rows, columns), of the caller; valid while the call lasts.
template <class T>
struct MatrixArgument {
  std::span<T> values{};
  std::size_t rows{};
  std::size_t columns{};
};

}  // namespace ccgym

namespace nanobind::detail {

template <class T>
class type_caster<ccgym::MatrixArgument<T>> {
  using Array = ndarray<T, numpy, ndim<2>, c_contig>;

 public:
  NB_TYPE_CASTER(ccgym::MatrixArgument<T>, make_caster<Array>::Name)

  type_caster() : value{} {}
  type_caster(const type_caster&) = delete;
  type_caster& operator=(const type_caster&) = delete;
  ~type_caster() {
    if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  }

  // What the short way does not take, lists for one, is nanobind's to convert or to refuse.
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (read_buffer(source)) return true;
    if (!array_.from_python(source, flags, cleanup)) return false;
    const Array& array = array_.value;
    value = {{array.data(), array.size()}, array.shape(0), array.shape(1)};
    return true;
  }

 private:
  static constexpr std::string_view kFormat = std::is_same_v<std::remove_const_t<T>, float> ? "f" : "d";
  static_assert(std::is_same_v<std::remove_const_t<T>, float> ||
                std::is_same_v<std::remove_const_t<T>, double>);

  bool read_buffer(handle source) noexcept {
    constexpr int kWritable = std::is_const_v<T> ? 0 : PyBUF_WRITABLE;
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | kWritable) != 0) {
      PyErr_Clear();
      return false;
    }
    if (buffer_.ndim != 2 || buffer_.format == nullptr || buffer_.format != kFormat) return false;
    const auto rows = static_cast<std::size_t>(buffer_.shape[0]);
    const auto columns = static_cast<std::size_t>(buffer_.shape[1]);
    value = {{static_cast<T*>(buffer_.buf), rows * columns}, rows, columns};
    return true;
  }

  Py_buffer buffer_{};
  make_caster<Array> array_{};
};

}  // namespace nanobind::detail
