// Loops compiled once for each width of vectors; the processor's is chosen when the program starts. With no
// contraction of products and sums (CMakeLists.txt) all of them compute the same bits.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CCGYM_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CCGYM_VECTORISED
#endif
