# Everything dlbench links, found once. packages.list says why each is needed.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
pkg_check_modules(PAPI REQUIRED IMPORTED_TARGET papi)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
find_library(LIBM m REQUIRED)

# The serial OpenBLAS, by its own path: the generic libopenblas.so.0 is an alternative that an
# administrator can point at the OpenMP build, which would bring a second OpenMP runtime into the
# process. It is loaded at run time (kernels/blas/openblas.c says why), never linked.
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED NO_DEFAULT_PATH
          HINTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} /usr/include ${CMAKE_PREFIX_PATH}
          PATH_SUFFIXES openblas-serial)
find_library(OPENBLAS_SERIAL NAMES libopenblas.so.0 REQUIRED NO_DEFAULT_PATH
             HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib ${CMAKE_PREFIX_PATH}
             PATH_SUFFIXES openblas-serial)

if(DLB_TESTS)
    pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)
endif()
