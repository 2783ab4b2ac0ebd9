# Fuzz targets for everything that parses datagrams: built by `make fuzz`, with clang, which brings libFuzzer.
set(FUZZED_SOURCES transport/wire.cc transport/receiver.cc)
foreach(part IN ITEMS authenticated_protocol caller compatible_protocol doorkeeper inner_header introduction
    one_time_keys segment_joiner segmenter)
  list(APPEND FUZZED_SOURCES tunnel/${part}.cc)
endforeach()

foreach(target IN ITEMS tunnel_datagram endpoint_datagram)
  add_executable(fuzz_${target} tests/cpp/fuzz/fuzz_target.cc tests/cpp/fuzz/${target}.cc ${FUZZED_SOURCES})
  target_compile_definitions(fuzz_${target} PRIVATE CCGYM_CHECK=check_${target})
  target_compile_options(fuzz_${target} PRIVATE -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_include_directories(fuzz_${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_libraries(fuzz_${target} PRIVATE ${SODIUM})
endforeach()
