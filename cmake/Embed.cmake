# Compile text files into a library, so that it knows them wherever it is installed.
#
#   dlb_embed(NAME HEADER header SYMBOL array TYPE struct FILES file...)
#
# adds a source to dlb_NAME that defines `const TYPE SYMBOL[]`, which `header` declares: {stem of
# the file's name, text} each, in the order of FILES, ended by {0, 0}.
function(dlb_embed name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;SYMBOL;TYPE" "FILES")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_FILES})
    set(entries "")
    foreach(path ${arg_FILES})
        cmake_path(GET path STEM stem)
        file(READ ${path} text)
        string(REPLACE "\\" "\\\\" text "${text}")
        string(REPLACE "\"" "\\\"" text "${text}")
        string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
        string(APPEND entries "    {\"${stem}\",\n     \"${text}\"},\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${arg_SYMBOL}.c)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include \"@arg_HEADER@\"

const @arg_TYPE@ @arg_SYMBOL@[] = {
@entries@    {0, 0},
};
")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
    target_sources(dlb_${name} PRIVATE ${source})
endfunction()
