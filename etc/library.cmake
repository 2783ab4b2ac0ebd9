# The libraries, one on the other: ccgym::transport, ccgym::controllers, ccgym::twin. `cmake --install build
# --component library` puts them where find_package(ccgym) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(CORE_SOURCES)

# What most files include is parsed once, for all libraries and programs.
set(STANDARD_HEADERS <algorithm> <array> <chrono> <cmath> <cstdint> <functional> <memory> <optional> <span>
  <stdexcept> <string> <string_view> <utility> <variant> <vector>)
function(precompile_headers name)
  if(name STREQUAL transport)
    target_precompile_headers(${name} PRIVATE ${STANDARD_HEADERS})
  else()
    target_precompile_headers(${name} REUSE_FROM transport)
  endif()
endfunction()

# add_floor(NAME ON FLOOR FOLDERS ...): one library of all sources in these folders.
function(add_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 FLOOR "" "ON" "FOLDERS")
  list(TRANSFORM FLOOR_FOLDERS APPEND "/*.cc" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${name} STATIC ${sources})
  add_library(ccgym::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ccgym>)
  target_include_directories(${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/third_party>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ccgym/third_party>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ccgym_${name})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:warnings> PUBLIC numerics ${FLOOR_ON})
  precompile_headers(${name})
  install(TARGETS ${name} EXPORT ccgym COMPONENT library)
  foreach(folder IN LISTS FLOOR_FOLDERS)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.hh)
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccgym/${folder} COMPONENT library)
  endforeach()
  set(CORE_SOURCES ${CORE_SOURCES} ${sources} PARENT_SCOPE)
endfunction()

add_library(numerics INTERFACE)
target_compile_options(numerics INTERFACE
  -ffp-contract=off    # the same bits on every machine
  -fno-trapping-math)  # nobody reads floating-point traps, and loops with comparisons vectorise without them
install(TARGETS numerics EXPORT ccgym COMPONENT library)

add_floor(transport FOLDERS transport)
add_floor(controllers ON transport FOLDERS agents/controllers agents/controllers/bbr agents/controllers/gcc
  agents/controllers/pcc agents/controllers/scream agents/controllers/sprout agents/controllers/verus agents/companion
  agents/policy agents/learning)
target_link_libraries(controllers PUBLIC ${CMAKE_DL_LIBS})
add_floor(twin ON controllers FOLDERS envs/twin envs/twin/queues envs/logs)

install(FILES agents/include/ccgym/controller.h COMPONENT library
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccgym/agents/include/ccgym)
install(FILES agents/include/ccgym/controller.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccgym COMPONENT library)
install(FILES third_party/nlohmann/json.hpp COMPONENT library
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccgym/third_party/nlohmann)

set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ccgym)
install(EXPORT ccgym NAMESPACE ccgym:: FILE ccgymConfig.cmake DESTINATION ${PACKAGE_DIR} COMPONENT library)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ccgymConfigVersion.cmake VERSION ${VERSION}
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ccgymConfigVersion.cmake DESTINATION ${PACKAGE_DIR} COMPONENT library)
