# The Python binding ccgym.envs._core and its type stub.
find_package(Python 3.10 COMPONENTS Interpreter Development.Module NumPy REQUIRED)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB BINDING_SOURCES CONFIGURE_DEPENDS envs/binding/*.cc)
nanobind_add_module(_core NB_STATIC ${BINDING_SOURCES})
target_link_libraries(_core PRIVATE core)
target_include_directories(_core SYSTEM PRIVATE ${NB_DIR}/include ${Python_INCLUDE_DIRS}
  ${Python_NumPy_INCLUDE_DIRS})  # not our warnings
target_precompile_headers(_core PRIVATE <nanobind/nanobind.h> <nanobind/ndarray.h> <nanobind/stl/string.h>
  <nanobind/stl/vector.h> ${STANDARD_HEADERS})
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CCGYM_BINDING_DIR})
nanobind_add_stub(core_stub MODULE _core OUTPUT ${CCGYM_BINDING_DIR}/_core.pyi
  PYTHON_PATH ${CCGYM_BINDING_DIR} PATTERN_FILE ${PROJECT_SOURCE_DIR}/etc/stub_patterns.txt DEPENDS _core)
