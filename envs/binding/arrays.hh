// numpy arrays that take over the contents of a C++ vector.
#pragma once

#include <nanobind/ndarray.h>

#include <memory>
#include <utility>
#include <vector>

namespace ccgym {

template <class T>
using NumpyVector = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

template <class T>
NumpyVector<T> to_numpy(std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const nanobind::capsule owner{kept.get(),
                                [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); }};
  std::vector<T>& data = *kept.release();
  return {data.data(), {data.size()}, owner};
}

}  // namespace ccgym
