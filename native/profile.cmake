# Profile-guided optimization of what searches and environments spend their time in. A second build of the same sources,
# instrumented/, counts what runs how often while it does the work of halidegym.evaluation.studies.profiled_work; this one is
# compiled for these counts. They belong to these sources and this compiler, so they are made anew and never kept.

set(profiled halidegym_core _core)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "HALIDEGYM_PROFILE needs GCC and found ${CMAKE_CXX_COMPILER_ID}: set CXX=g++, or leave it off")
endif()

if(HALIDEGYM_INSTRUMENT)
    foreach(target ${profiled})
        target_compile_options(${target} PRIVATE -fprofile-generate -fprofile-update=prefer-atomic)
    endforeach()
    target_link_options(_core PRIVATE -fprofile-generate)

    # The rest of the package, which other builds leave to scikit-build-core; it asks for a version when it is imported.
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/halidegym" DESTINATION .)
    foreach(room envs agents evaluation)
        install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}" DESTINATION halidegym)
    endforeach()
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/native" DESTINATION halidegym FILES_MATCHING PATTERN "*.py")
    file(WRITE "${PROJECT_BINARY_DIR}/METADATA" "Metadata-Version: 2.1\nName: halidegym\nVersion: 0\n")
    install(FILES "${PROJECT_BINARY_DIR}/METADATA" DESTINATION halidegym-0.dist-info)
    return()
endif()

# An object finds its counts by its name, so both builds give it the same one: they are configured alike.
set(instrumented "${PROJECT_BINARY_DIR}/instrumented")
set(settings -DHALIDEGYM_INSTRUMENT=ON)
foreach(name HALIDEGYM_WHEEL CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CXX_FLAGS
        CMAKE_MAKE_PROGRAM Python_EXECUTABLE pybind11_DIR)
    list(APPEND settings "-D${name}=${${name}}")
endforeach()

# Counts would be written beside the instrumented objects. These tell GCC how many folders of that name to leave out, and
# where to write instead.
set(counts "${PROJECT_BINARY_DIR}/counts")
string(REGEX MATCHALL "/" depth "${instrumented}")
list(LENGTH depth depth)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp *.h)
add_custom_command(
    OUTPUT profile.stamp
    COMMAND ${CMAKE_COMMAND} -S "${PROJECT_SOURCE_DIR}" -B "${instrumented}" -G "${CMAKE_GENERATOR}" ${settings}
    COMMAND ${CMAKE_COMMAND} --build "${instrumented}"
    COMMAND ${CMAKE_COMMAND} -E rm -rf "${counts}" "${instrumented}/package"
    COMMAND ${CMAKE_COMMAND} --install "${instrumented}" --prefix "${instrumented}/package"
    COMMAND ${CMAKE_COMMAND} -E chdir "${instrumented}/package"
            ${CMAKE_COMMAND} -E env "GCOV_PREFIX=${counts}" GCOV_PREFIX_STRIP=${depth}
            "${Python_EXECUTABLE}" -m halidegym.evaluation.studies.profiled_work
    COMMAND ${CMAKE_COMMAND} -E copy_directory "${counts}" "${PROJECT_BINARY_DIR}"
    COMMAND ${CMAKE_COMMAND} -E touch profile.stamp
    DEPENDS ${sources} "${PROJECT_SOURCE_DIR}/evaluation/studies/profiled_work.py"
    COMMENT "Counting what runs how often in an instrumented build"
    USES_TERMINAL VERBATIM)
add_custom_target(profile DEPENDS profile.stamp)

# What the work does not reach is compiled as without a profile. Counts that are missing, or of other sources, are errors.
foreach(target ${profiled})
    add_dependencies(${target} profile)
    target_compile_options(${target} PRIVATE
        -fprofile-use -fprofile-partial-training -Werror=missing-profile -Werror=coverage-mismatch)
endforeach()
