# libdlbench: the trainer as a shared library with one public header, found by CMake and
# pkg-config. Only what the header declares is visible. What programs are compiled with is the
# component `development`.
include(CMakePackageConfigHelpers)

add_library(dlbench_library SHARED harness/train/trainer.c)
set_target_properties(dlbench_library PROPERTIES
    OUTPUT_NAME dlbench EXPORT_NAME trainer VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(dlbench_library PRIVATE dlb_train)
target_link_options(dlbench_library PRIVATE LINKER:--exclude-libs,ALL)
if(NOT DLB_SANITIZE) # a sanitizer's runtime is in the program that loads the library
    target_link_options(dlbench_library PRIVATE LINKER:--no-undefined)
endif()
target_include_directories(dlbench_library INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS dlbench_library EXPORT dlbench-targets)
install(FILES harness/train/include/dlbench/trainer.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dlbench COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dlbench)
install(EXPORT dlbench-targets NAMESPACE dlbench:: DESTINATION ${package_dir}
        COMPONENT development)
file(CONFIGURE OUTPUT dlbench-config.cmake @ONLY CONTENT
     "include(\${CMAKE_CURRENT_LIST_DIR}/dlbench-targets.cmake)\n")
write_basic_package_version_file(dlbench-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dlbench-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/dlbench-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# Paths relative to the file itself, so that the installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix ${pc_dir} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_to_lib ${pc_dir} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_to_include ${pc_dir} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(CONFIGURE OUTPUT dlbench.pc @ONLY CONTENT
"prefix=\${pcfiledir}/@pc_to_prefix@
libdir=\${pcfiledir}/@pc_to_lib@
includedir=\${pcfiledir}/@pc_to_include@

Name: dlbench
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I\${includedir}
Libs: -L\${libdir} -ldlbench
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dlbench.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

install(DIRECTORY sweeps DESTINATION ${CMAKE_INSTALL_DATADIR}/dlbench)
