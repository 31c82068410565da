# One static library a folder. DEPS is the written rule of who may include whom; a test
# (tests/cli/includes) rejects an include that is not covered by it.
#
#   dlb_library(NAME [DEPS other...] [LINK external...] [EXCEPT regex])
#
# takes every .c file of the calling folder, one level of subfolders included, but for those whose
# path matches EXCEPT.

add_library(dlb_flags INTERFACE)
target_compile_features(dlb_flags INTERFACE c_std_17)
target_compile_definitions(dlb_flags INTERFACE _GNU_SOURCE DLB_VERSION="${PROJECT_VERSION}")
target_compile_options(dlb_flags INTERFACE
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wpointer-arith -Wwrite-strings -Wundef
    -fno-math-errno -fno-trapping-math -fvisibility=hidden
    -include ${PROJECT_SOURCE_DIR}/harness/base/banned.h)
target_include_directories(dlb_flags INTERFACE
    ${PROJECT_SOURCE_DIR}/harness ${PROJECT_SOURCE_DIR}/kernels/include)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g -fno-omit-frame-pointer")
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(DLB_SANITIZE)
    target_compile_options(dlb_flags INTERFACE -fsanitize=${DLB_SANITIZE}
                           -fno-sanitize-recover=all)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang") # loops that must vectorise cannot when instrumented
        target_compile_options(dlb_flags INTERFACE -Wno-pass-failed)
    endif()
    target_link_options(dlb_flags INTERFACE -fsanitize=${DLB_SANITIZE})
endif()

function(dlb_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "DEPS;LINK")
    file(GLOB sources CONFIGURE_DEPENDS *.c */*.c)
    if(arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX ${arg_EXCEPT})
    endif()
    add_library(dlb_${name} STATIC ${sources})
    list(TRANSFORM arg_DEPS PREPEND dlb_)
    target_link_libraries(dlb_${name} PUBLIC dlb_flags ${arg_DEPS} PRIVATE ${arg_LINK})
endfunction()
