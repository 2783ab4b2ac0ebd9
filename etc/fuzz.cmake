# Fuzz targets for everything that parses what comes from outside: built by `make fuzz`, with clang, which
# brings libFuzzer.
set(SANITIZED_FOR_FUZZING -g -O1 -fno-sanitize-recover=all)
set(TUNNEL_PARSERS authenticated_protocol client_handshake compatible_protocol server_handshake inner_header handshake
  one_time_keys segment_joiner segmenter)
list(TRANSFORM TUNNEL_PARSERS REPLACE "(.+)" "tunnel/\\1.cc")

set(PARSERS ${CORE_SOURCES} ${TUNNEL_PARSERS})
list(FILTER PARSERS EXCLUDE REGEX envs/twin/)  # reads nothing from outside
add_library(core_fuzzed STATIC ${PARSERS})
target_include_directories(core_fuzzed PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(core_fuzzed SYSTEM PUBLIC ${PROJECT_SOURCE_DIR}/third_party)
target_compile_options(core_fuzzed PUBLIC ${SANITIZED_FOR_FUZZING} -fsanitize=fuzzer-no-link,address,undefined)
target_link_libraries(core_fuzzed PUBLIC ${SODIUM})

foreach(target IN ITEMS tunnel_datagram endpoint_datagram policy_file remy_table event_log scheme_name)
  add_executable(fuzz_${target} tests/cpp/fuzz/fuzz_target.cc tests/cpp/fuzz/${target}.cc)
  target_compile_definitions(fuzz_${target} PRIVATE CCGYM_CHECK=check_${target})
  target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_${target} PRIVATE core_fuzzed)
endforeach()
