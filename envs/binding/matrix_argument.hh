// A matrix that Python hands over, read from numpy's own struct: the buffer protocol takes 70 ns, nanobind's
// own cast of a numpy array several times that, and a step of few paths has three.
#pragma once

#include <nanobind/ndarray.h>
#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define NO_IMPORT_ARRAY  // its fields only, which stay where they are; none of its functions
#include <numpy/ndarraytypes.h>

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

  // What the short way does not take, lists for one, is nanobind's to convert or to refuse.
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (read_numpy(source)) return true;
    if (!array_.from_python(source, flags, cleanup)) return false;
    const Array& array = array_.value;
    value = {{array.data(), array.size()}, array.shape(0), array.shape(1)};
    return true;
  }

 private:
  static_assert(std::is_same_v<std::remove_const_t<T>, float> ||
                std::is_same_v<std::remove_const_t<T>, double>);
  static constexpr int kNumber = std::is_same_v<std::remove_const_t<T>, float> ? NPY_FLOAT : NPY_DOUBLE;
  static constexpr int kFlags = std::is_const_v<T> ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY;

  bool read_numpy(handle source) noexcept {
    if (!source.type().is(numpy_array_type())) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(source.ptr());  // not const: numpy 1 asks for that
    if (PyArray_NDIM(array) != 2 || PyArray_TYPE(array) != kNumber || !PyArray_CHKFLAGS(array, kFlags) ||
        !PyArray_ISNOTSWAPPED(array))
      return false;
    const auto rows = static_cast<std::size_t>(PyArray_DIM(array, 0));
    const auto columns = static_cast<std::size_t>(PyArray_DIM(array, 1));
    value = {{static_cast<T*>(PyArray_DATA(array)), rows * columns}, rows, columns};
    return true;
  }

  // Kept for the life of the process.
  static handle numpy_array_type() {
    static const handle type = object{module_::import_("numpy").attr("ndarray")}.release();
    return type;
  }

  make_caster<Array> array_{};
};

}  // namespace nanobind::detail
