# The C++ tests run on a sanitised build of the same sources. `make test` makes it with clang, which takes half the
# time of gcc and sees other mistakes than the release build's compiler.
find_package(GTest REQUIRED)
enable_testing()

add_library(sanitizers INTERFACE)
target_compile_options(sanitizers INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
  -g1)  # lines for the reports; what a debugger needs besides takes a quarter of the compiler's time
target_link_options(sanitizers INTERFACE -fsanitize=address,undefined)

if(NOT SODIUM OR NOT URING)
  message(FATAL_ERROR "the C++ tests need libsodium and liburing: install libsodium-dev liburing-dev")
endif()

# What takes time here is the compiler, not the tests: the tests are not optimised, nor is what they hardly run, what
# instantiates the templates of JSON, or those of the twin more than once.
set(UNOPTIMISED ${CORE_SOURCES})
list(FILTER UNOPTIMISED INCLUDE REGEX "/envs/logs/|/(controller_library|gym_path|json_checks|library_controller|\
make_controller|network_file|policy_file|remy_table|safetensors)\\.cc$")
set(OPTIMISED ${CORE_SOURCES})
list(REMOVE_ITEM OPTIMISED ${UNOPTIMISED})

function(add_sanitized name type)
  add_library(${name} ${type} ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party)
  target_link_libraries(${name} PUBLIC warnings numerics sanitizers ${SODIUM} ${URING})
  target_precompile_headers(${name} PRIVATE ${STANDARD_HEADERS})
endfunction()

add_sanitized(unoptimised OBJECT ${UNOPTIMISED} ${ENDPOINT_SOURCES} ${TUNNEL_SOURCES})
add_sanitized(core_sanitized STATIC ${OPTIMISED})
target_sources(core_sanitized PRIVATE $<TARGET_OBJECTS:unoptimised>)
target_compile_options(core_sanitized PRIVATE -O1)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/cpp/*/*_test.cc tests/cpp/*/*/*_test.cc tests/cpp/fuzz/*.cc)
list(FILTER TEST_SOURCES EXCLUDE REGEX fuzz_target.cc)
add_executable(cpp_tests ${TEST_SOURCES})
target_link_libraries(cpp_tests PRIVATE core_sanitized GTest::gtest_main)
target_precompile_headers(cpp_tests PRIVATE <gtest/gtest.h> ${STANDARD_HEADERS})
target_compile_definitions(cpp_tests PRIVATE CCGYM_CORPUS="${PROJECT_SOURCE_DIR}/tests/cpp/fuzz/corpus")

# No test links these, but they have to pass this compiler's warnings too.
file(GLOB EXAMPLE_SOURCES CONFIGURE_DEPENDS examples/my_controller/*.cc)
add_library(mains OBJECT deploy/endpoint/sender.cc deploy/endpoint/receiver.cc tunnel/tunnel.cc ${EXAMPLE_SOURCES})
target_compile_definitions(mains PRIVATE CCGYM_VERSION="${VERSION}")
target_link_libraries(mains PRIVATE core_sanitized)
add_dependencies(cpp_tests mains)

# In a few processes: one for each test would spend most of its time on starting with the sanitizers.
set(SHARDS 8)
math(EXPR LAST_SHARD "${SHARDS} - 1")
foreach(shard RANGE ${LAST_SHARD})
  add_test(NAME cpp_tests_${shard} COMMAND cpp_tests --gtest_brief=1)
  set_tests_properties(cpp_tests_${shard} PROPERTIES
    ENVIRONMENT "GTEST_TOTAL_SHARDS=${SHARDS};GTEST_SHARD_INDEX=${shard}")
endforeach()
