// C += A B for the small matrices of a policy in training. Every entry is one sum of float32 in the order of
// the inner index, products and sums rounded apart: the bits depend neither on the machine nor on the width
// of its vectors, as those of a BLAS do.
#pragma once

#include <cstddef>

namespace ccgym {

// A matrix of anybody's; transposed, it has its strides exchanged.
struct MatrixView {
  const float* data;
  std::size_t rows;
  std::size_t columns;
  std::ptrdiff_t row_stride;  // in entries, as the other one
  std::ptrdiff_t column_stride;

  [[nodiscard]] MatrixView transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// `c` is row-major, [a.rows, b.columns], `c_stride` entries from row to row; a.columns == b.rows.
void add_product(const MatrixView& a, const MatrixView& b, float* c, std::size_t c_stride);

}  // namespace ccgym
