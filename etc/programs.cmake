# The programs: static, so that an exported scheme runs on any Linux of the same architecture. Only the sender
# that loads controllers from libraries (so:FILE.so) cannot be. It shares libgcc with them: what a library in
# C++ throws can be caught by nobody else.
file(GLOB ENDPOINT_SOURCES CONFIGURE_DEPENDS deploy/endpoint/*.cc)
list(FILTER ENDPOINT_SOURCES EXCLUDE REGEX "/(sender|receiver)\\.cc$")
add_library(endpoint STATIC ${ENDPOINT_SOURCES})
target_link_libraries(endpoint PUBLIC core)
precompile_headers(endpoint)

function(add_program name source library linked)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${library})
  target_compile_definitions(${name} PRIVATE CCGYM_VERSION="${VERSION}")
  target_link_options(${name} PRIVATE ${linked} -s)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CCGYM_PROGRAMS_DIR})
endfunction()

add_program(ccgym-sender deploy/endpoint/sender.cc endpoint -static)
add_program(ccgym-receiver deploy/endpoint/receiver.cc endpoint -static)
add_program(ccgym-sender-so deploy/endpoint/sender.cc endpoint -static-libstdc++)
target_compile_definitions(ccgym-sender-so PRIVATE CCGYM_LOADS_LIBRARIES)

# The tunnel needs libsodium and liburing, which training does not: without them, it is left out.
find_library(SODIUM libsodium.a)
find_path(SODIUM_INCLUDES sodium.h)
find_library(URING liburing.a)
find_path(URING_INCLUDES liburing.h)
if(SODIUM AND SODIUM_INCLUDES AND URING AND URING_INCLUDES)
  file(GLOB TUNNEL_SOURCES CONFIGURE_DEPENDS tunnel/*.cc)
  list(FILTER TUNNEL_SOURCES EXCLUDE REGEX "/tunnel\\.cc$")
  add_library(tunnel STATIC ${TUNNEL_SOURCES})
  target_link_libraries(tunnel PUBLIC endpoint ${SODIUM} ${URING})
  precompile_headers(tunnel)
  add_program(ccgym-tunnel tunnel/tunnel.cc tunnel -static)
else()
  message(STATUS "ccgym-tunnel is left out: install libsodium-dev liburing-dev")
endif()
