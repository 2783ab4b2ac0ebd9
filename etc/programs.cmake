# The endpoint programs: static, so that an exported scheme runs on any Linux of the same architecture.
foreach(program IN ITEMS sender receiver)
  add_executable(ccgym-${program} deploy/endpoint/${program}.cc)
  target_link_libraries(ccgym-${program} PRIVATE core)
  target_link_options(ccgym-${program} PRIVATE -static -s)
  set_target_properties(ccgym-${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CCGYM_PROGRAMS_DIR})
endforeach()
