// A matrix argument from Python, read directly from numpy's struct, because a step of a few paths passes
// three matrices: the buffer protocol takes 70 ns for each, and nanobind's conversion of a numpy array
// several times as long.
#pragma once

#include <nanobind/ndarray.h>
#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define NO_IMPORT_ARRAY  // only the fields of numpy's array struct are used, whose layout is stable
#include <numpy/ndarraytypes.h>

#include <cstddef>
#include <span>
#include <type_traits>

namespace ccgym {

// A C-contiguous matrix of shape (rows, columns). Its memory belongs to the caller, and is valid during the
// call.
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

  // Any other argument, such as a list, is converted or refused by nanobind.
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
  static constexpr int kNumpyType = std::is_same_v<std::remove_const_t<T>, float> ? NPY_FLOAT : NPY_DOUBLE;
  static constexpr int kFlags = std::is_const_v<T> ? NPY_ARRAY_CARRAY_RO : NPY_ARRAY_CARRAY;

  bool read_numpy(handle source) noexcept {
    if (!source.type().is(numpy_array_type())) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(source.ptr());  // not const, because of numpy 1
    if (PyArray_NDIM(array) != 2 || PyArray_TYPE(array) != kNumpyType || !PyArray_CHKFLAGS(array, kFlags) ||
        !PyArray_ISNOTSWAPPED(array))
      return false;
    const auto rows = static_cast<std::size_t>(PyArray_DIM(array, 0));
    const auto columns = static_cast<std::size_t>(PyArray_DIM(array, 1));
    value = {{static_cast<T*>(PyArray_DATA(array)), rows * columns}, rows, columns};
    return true;
  }

  // A reference that is held until the process ends.
  static handle numpy_array_type() {
    static const handle type = object{module_::import_("numpy").attr("ndarray")}.release();
    return type;
  }

  make_caster<Array> array_{};
};

}  // namespace nanobind::detail
