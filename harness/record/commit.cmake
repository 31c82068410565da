# Writes HEADER with the commit of SOURCE, "unknown" where there is no git history. A header that
# is already right keeps its time, so that nothing is built again.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git describe --always --long --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
if(failed)
    set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT "#define DLB_COMMIT \"${commit}\"\n")
