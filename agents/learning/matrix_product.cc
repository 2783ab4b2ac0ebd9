#include "agents/learning/matrix_product.hh"

#include <algorithm>
#include <array>
#include <cstring>

#include "agents/policy/vectorised.hh"

namespace ccgym {

namespace {

using Lanes = float __attribute__((vector_size(32)));

constexpr std::size_t kLanes = 8;
constexpr std::size_t kColumns = 2 * kLanes;  // of a panel of B
constexpr std::size_t kInner = 256;           // with so many rows a panel stays in the first cache
constexpr std::size_t kRows = 6;              // with kColumns the sums fill twelve of sixteen registers

using Panel = std::array<float, kInner * kColumns>;

[[gnu::always_inline]] inline void load(Lanes& lanes, const float* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}
[[gnu::always_inline]] inline void store(const Lanes& lanes, float* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

// Columns beyond the matrix are zero.
void pack(const MatrixView& b, std::size_t first_row, std::size_t rows, std::size_t first_column,
          Panel& panel) {
  const std::size_t columns = std::min(kColumns, b.columns - first_column);
  for (std::size_t k = 0; k < rows; ++k) {
    const float* const from = b.data + static_cast<std::ptrdiff_t>(first_row + k) * b.row_stride +
                              static_cast<std::ptrdiff_t>(first_column) * b.column_stride;
    float* const to = &panel[k * kColumns];
    for (std::size_t j = 0; j < columns; ++j) to[j] = from[static_cast<std::ptrdiff_t>(j) * b.column_stride];
    std::fill(to + columns, to + kColumns, 0.0F);
  }
}

template <std::size_t kCount>
[[gnu::always_inline]] inline void add_rows(const MatrixView& a, std::size_t first_row,
                                            std::size_t first_inner, std::size_t inner, const float* panel,
                                            float* sums) {
  Lanes low[kCount];
  Lanes high[kCount];
  for (std::size_t row = 0; row < kCount; ++row) {
    load(low[row], sums + row * kColumns);
    load(high[row], sums + row * kColumns + kLanes);
  }
  const float* factor = a.data + static_cast<std::ptrdiff_t>(first_row) * a.row_stride +
                        static_cast<std::ptrdiff_t>(first_inner) * a.column_stride;
  for (std::size_t k = 0; k < inner; ++k, factor += a.column_stride, panel += kColumns) {
    Lanes panel_low;
    load(panel_low, panel);
    Lanes panel_high;
    load(panel_high, panel + kLanes);
    for (std::size_t row = 0; row < kCount; ++row) {
      const float scale = factor[static_cast<std::ptrdiff_t>(row) * a.row_stride];
      low[row] += scale * panel_low;
      high[row] += scale * panel_high;
    }
  }
  for (std::size_t row = 0; row < kCount; ++row) {
    store(low[row], sums + row * kColumns);
    store(high[row], sums + row * kColumns + kLanes);
  }
}

// Columns of C: those of the panel that the matrix has.
CCGYM_VECTORISED void add_panel(const MatrixView& a, std::size_t first_inner, std::size_t inner,
                                const float* panel, float* c, std::size_t c_stride, std::size_t columns) {
  std::array<float, kRows * kColumns> sums{};
  for (std::size_t row = 0; row < a.rows; row += kRows) {
    const std::size_t rows = std::min(kRows, a.rows - row);
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(&sums[i * kColumns], c + (row + i) * c_stride, columns * sizeof(float));
    if (rows == kRows) {
      add_rows<kRows>(a, row, first_inner, inner, panel, sums.data());
    } else {
      for (std::size_t i = 0; i < rows; ++i)
        add_rows<1>(a, row + i, first_inner, inner, panel, &sums[i * kColumns]);
    }
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(c + (row + i) * c_stride, &sums[i * kColumns], columns * sizeof(float));
  }
}

}  // namespace

void add_product(const MatrixView& a, const MatrixView& b, float* c, std::size_t c_stride) {
  Panel panel;
  for (std::size_t k = 0; k < b.rows; k += kInner) {
    const std::size_t inner = std::min(kInner, b.rows - k);
    for (std::size_t column = 0; column < b.columns; column += kColumns) {
      pack(b, k, inner, column, panel);
      add_panel(a, k, inner, panel.data(), c + column, c_stride, std::min(kColumns, b.columns - column));
    }
  }
}

}  // namespace ccgym
