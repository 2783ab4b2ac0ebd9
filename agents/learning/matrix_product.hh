// C += A B for the small matrices of a policy in training. Every entry is one float32 sum in the order of the
// inner index, with products and sums rounded separately: unlike those of a BLAS, the bits depend neither on
// the machine nor on the width of its vectors.
#pragma once

#include <cstddef>

namespace ccgym {

// A matrix that is owned elsewhere; its transpose has the strides exchanged.
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
