# Targets: format (rewrite), format-check, tidy, cppcheck. Each reads the files git tracks.
set(DLB_LINT ${PROJECT_SOURCE_DIR}/cmake/lint)
foreach(tool format format-check tidy cppcheck)
    add_custom_target(${tool} COMMAND ${DLB_LINT} ${tool} ${PROJECT_BINARY_DIR}
                      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL)
endforeach()
