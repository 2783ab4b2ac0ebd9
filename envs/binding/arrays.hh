// numpy arrays as results and as arguments.
#pragma once

#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ccgym {

template <class T>
using NumpyVector = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

// An array of type `Array` and shape `shape` that owns `values`, its elements in C order.
template <class Array, class T>
Array to_array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const nanobind::capsule owner{kept.get(),
                                [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); }};
  std::vector<T>& data = *kept.release();
  return {data.data(), shape, owner};
}

template <class T>
NumpyVector<T> to_numpy(std::vector<T> values) {
  const std::size_t size = values.size();
  return to_array<NumpyVector<T>>(std::move(values), {size});
}

// The elements of a C-contiguous array. Throws std::invalid_argument if it does not have `size` of them.
template <class Array>
std::span<typename Array::Scalar> checked_elements(const Array& array, const char* name, std::size_t size) {
  if (array.size() == size) return {array.data(), size};
  throw std::invalid_argument(std::string{name} + " has " + std::to_string(array.size()) +
                              " entries, should have " + std::to_string(size));
}

}  // namespace ccgym
