#include "agents/learning/matrix_product.hh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ccgym {
namespace {

struct Sizes {
  std::size_t rows;
  std::size_t inner;
  std::size_t columns;
};

class MatrixProduct : public testing::TestWithParam<Sizes> {
 protected:
  std::vector<float> random(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = normal_(random_);
    return values;
  }

 private:
  std::mt19937 random_{7};
  std::normal_distribution<float> normal_{};
};

// Equal to the bit: one sum in the order of the inner index, for any vector width.
TEST_P(MatrixProduct, IsThatOfThreeLoops) {
  const auto [rows, inner, columns] = GetParam();
  const std::vector<float> a = random(rows * inner);
  const std::vector<float> b = random(inner * columns);
  const std::vector<float> before = random(rows * columns);
  std::vector<float> expected = before;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < inner; ++k) {
        const float product = a[i * inner + k] * b[k * columns + j];
        expected[i * columns + j] += product;
      }
  std::vector<float> c = before;
  const MatrixView left{a.data(), rows, inner, static_cast<std::ptrdiff_t>(inner), 1};
  const MatrixView right{b.data(), inner, columns, static_cast<std::ptrdiff_t>(columns), 1};
  add_product(left, right, c.data(), columns);
  EXPECT_EQ(c, expected);
}

TEST_P(MatrixProduct, ReadsTransposedMatrices) {
  const auto [rows, inner, columns] = GetParam();
  const std::vector<float> a = random(rows * inner);
  const std::vector<float> b = random(inner * columns);
  std::vector<float> a_transposed;
  std::vector<float> b_transposed;
  for (std::size_t k = 0; k < inner; ++k)
    for (std::size_t i = 0; i < rows; ++i) a_transposed.push_back(a[i * inner + k]);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t k = 0; k < inner; ++k) b_transposed.push_back(b[k * columns + j]);
  std::vector<float> plain(rows * columns);
  std::vector<float> transposed(rows * columns);
  add_product({a.data(), rows, inner, static_cast<std::ptrdiff_t>(inner), 1},
              {b.data(), inner, columns, static_cast<std::ptrdiff_t>(columns), 1}, plain.data(), columns);
  add_product(
      MatrixView{a_transposed.data(), inner, rows, static_cast<std::ptrdiff_t>(rows), 1}.transposed(),
      MatrixView{b_transposed.data(), columns, inner, static_cast<std::ptrdiff_t>(inner), 1}.transposed(),
      transposed.data(), columns);
  EXPECT_EQ(plain, transposed);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatrixProduct,
                         testing::Values(Sizes{1, 1, 1}, Sizes{6, 4, 16}, Sizes{13, 94, 33},
                                         Sizes{5, 600, 17}, Sizes{20, 3, 1}, Sizes{2, 0, 3}));

}  // namespace
}  // namespace ccgym
