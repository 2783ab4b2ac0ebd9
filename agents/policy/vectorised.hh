// Compiles a function once for each width of vector instructions; the program chooses the processor's when it
// starts. All versions compute the same bits, because CMakeLists.txt turns off fused products and sums.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CCGYM_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CCGYM_VECTORISED
#endif
