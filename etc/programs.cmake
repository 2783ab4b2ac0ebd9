# The endpoint programs: static, so that an exported scheme runs on any Linux of the same architecture.
file(GLOB ENDPOINT_SOURCES CONFIGURE_DEPENDS deploy/endpoint/*.cc)
list(FILTER ENDPOINT_SOURCES EXCLUDE REGEX "/(sender|receiver)\\.cc$")
add_library(endpoint STATIC ${ENDPOINT_SOURCES})
target_link_libraries(endpoint PUBLIC core)

file(STRINGS setup.cfg VERSION_LINE REGEX "^version = ")
string(REPLACE "version = " "" VERSION ${VERSION_LINE})

foreach(program IN ITEMS sender receiver)
  add_executable(ccgym-${program} deploy/endpoint/${program}.cc)
  target_link_libraries(ccgym-${program} PRIVATE endpoint)
  target_compile_definitions(ccgym-${program} PRIVATE CCGYM_VERSION="${VERSION}")
  target_link_options(ccgym-${program} PRIVATE -static -s)
  set_target_properties(ccgym-${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CCGYM_PROGRAMS_DIR})
endforeach()
