# The C++ tests run on a sanitised build of the same sources.
find_package(GTest REQUIRED)
enable_testing()
include(GoogleTest)

add_library(sanitizers INTERFACE)
target_compile_options(sanitizers INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -g)
target_link_options(sanitizers INTERFACE -fsanitize=address,undefined)

if(NOT SODIUM OR NOT URING)
  message(FATAL_ERROR "the C++ tests need libsodium and liburing: install libsodium-dev liburing-dev")
endif()

add_library(core_sanitized STATIC ${CORE_SOURCES} ${ENDPOINT_SOURCES} ${TUNNEL_SOURCES})
target_include_directories(core_sanitized PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(core_sanitized SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party)
target_link_libraries(core_sanitized PUBLIC warnings numerics sanitizers ${SODIUM} ${URING})
target_compile_options(core_sanitized PRIVATE -O1)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/cpp/*/*_test.cc tests/cpp/*/*/*_test.cc tests/cpp/fuzz/*.cc)
list(FILTER TEST_SOURCES EXCLUDE REGEX fuzz_target.cc)
add_executable(cpp_tests ${TEST_SOURCES})
# What takes time here is the compiler, not the tests: they are not optimised, and gtest is parsed once.
target_link_libraries(cpp_tests PRIVATE core_sanitized GTest::gtest_main)
target_precompile_headers(cpp_tests PRIVATE <gtest/gtest.h> <array> <chrono> <memory> <optional> <string> <vector>)
target_compile_definitions(cpp_tests PRIVATE CCGYM_CORPUS="${PROJECT_SOURCE_DIR}/tests/cpp/fuzz/corpus")
gtest_discover_tests(cpp_tests DISCOVERY_TIMEOUT 60)
