# How this project builds a folder, a program, a test binary. The root CMakeLists.txt only lists them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)  # programs too, or they could not share the precompiled header
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # a LibTorch outside the system folders is found after the installation too
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # the kernels ask for -O3 themselves
include(GNUInstallDirs)

# Flags of every target of ours, the same for all, so that they can share one precompiled header.
add_library(fovea_flags INTERFACE)
# fovea_warn(OPTION…): for C++ alone, which nvcc's options are not.
function(fovea_warn)
  target_compile_options(fovea_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()
fovea_warn(-Wall -Wextra -Wno-unused-parameter -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  fovea_warn(-Wno-stringop-overflow -Wno-restrict -Wno-array-bounds)  # false alarms of GCC 12
endif()
if(FOVEA_WERROR)
  fovea_warn(-Werror)
endif()
if(FOVEA_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # where every file is an included one, all its classes seem a header's
  fovea_warn(-Wno-subobject-linkage)
endif()
if(FOVEA_SANITIZE)
  target_compile_options(fovea_flags INTERFACE -fsanitize=address,undefined,float-cast-overflow
                         -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer)
  target_link_options(fovea_flags INTERFACE -fsanitize=address,undefined)
endif()

# LibTorch costs 8 to 15 seconds and 1 GB a file: what tensor/torch.h has of it is compiled once for the library, and once more
# with GoogleTest for the tests. fovea_shared_header(NAME LIBRARY…)
function(fovea_shared_header name)
  if(TARGET ${name})
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "// holds a shared precompiled header\n")  # written once
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE fovea_flags ${FOVEA_TORCH} nlohmann_json::nlohmann_json ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_precompile_headers(${name} PRIVATE <fovea/tensor/torch.h> <nlohmann/json.hpp>)
endfunction()

# Loading it costs 3 seconds a file, so it is left out of files that see no more of LibTorch than the Tensor class, unless they
# are compiled in a batch (unity.cmake).
function(fovea_use_shared_header target)
  fovea_shared_header(fovea_precompiled)
  target_precompile_headers(${target} REUSE_FROM fovea_precompiled)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    file(STRINGS ${source} heavy LIMIT_COUNT 1
         REGEX "include *(<torch/|\"fovea/tensor/torch|\"fovea/(attention|nn|models|training|tasks)/|\"cli/|\"tests/support/(golden|gradient_check))")
    if(NOT heavy)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# fovea_device_kernels(): fovea/kernels/<op>/<op>.cu, compiled for the GPUs that LibTorch was asked to be compiled for.
function(fovea_device_kernels)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fovea/kernels/*/*.cu)
  target_sources(fovea_kernels PRIVATE ${sources})
  target_compile_definitions(fovea_kernels PRIVATE FOVEA_WITH_DEVICE_KERNELS)
  set_target_properties(fovea_kernels PROPERTIES CUDA_STANDARD 20 CUDA_RUNTIME_LIBRARY Shared)
endfunction()

# What tests compute themselves is little: -O1 halves the time that they compile.
set(fovea_test_options $<$<CONFIG:Release>:-O1>)
function(fovea_use_shared_test_header target)
  if(NOT TARGET fovea_precompiled_tests)
    fovea_shared_header(fovea_precompiled_tests GTest::gtest)
    target_precompile_headers(fovea_precompiled_tests PRIVATE <gtest/gtest.h>)
    target_compile_options(fovea_precompiled_tests PRIVATE ${fovea_test_options})
  endif()
  target_compile_options(${target} PRIVATE ${fovea_test_options})
  target_precompile_headers(${target} REUSE_FROM fovea_precompiled_tests)
endfunction()

# fovea_folder(NAME DEPENDENCY…): the static library fovea::NAME from fovea/NAME/**.cc. A folder without sources yet is skipped.
function(fovea_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fovea/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_module\\.cc$")
  if(NOT sources)
    add_library(fovea_${name} INTERFACE)
    set(visibility INTERFACE)
  else()
    add_library(fovea_${name} STATIC ${sources})
    set(visibility PUBLIC)
    target_link_libraries(fovea_${name} PRIVATE $<BUILD_INTERFACE:fovea_flags>)
  endif()
  add_library(fovea::${name} ALIAS fovea_${name})
  set_target_properties(fovea_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(fovea_${name} ${visibility} cxx_std_20)
  target_include_directories(fovea_${name} ${visibility} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(dependency ${ARGN})
    target_link_libraries(fovea_${name} ${visibility} fovea_${dependency})
  endforeach()
  if(name STREQUAL "kernels")
    fovea_instruction_sets(${sources})
  elseif(sources)
    target_link_libraries(fovea_${name} PUBLIC ${FOVEA_TORCH} nlohmann_json::nlohmann_json Threads::Threads)
    fovea_use_shared_header(fovea_${name})
    fovea_unity(fovea_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY FOVEA_FOLDERS fovea_${name})
endfunction()

# Every kernels/<op>/<op>.cc is compiled once per instruction set and chosen at run time (kernels/dispatch.h): the baseline's copies
# are the library's sources, those of other instruction sets objects that join it.
function(fovea_instruction_sets)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O3)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  set(ops ${ARGN})
  list(FILTER ops INCLUDE REGEX "/kernels/[a-z_]+/")
  set(bf16_ops ${ops})
  list(FILTER bf16_ops INCLUDE REGEX "/(packed_product|best_symbols)\\.cc$")
  set(avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)
  fovea_instruction_set(avx2 8 "${ops}" -mavx2 -mfma)
  fovea_instruction_set(avx512 16 "${ops}" ${avx512})
  fovea_instruction_set(avx512_bf16 16 "${bf16_ops}" ${avx512} -mavx512bf16 -DFOVEA_BF16)
endfunction()

# fovea_instruction_set(NAME LANES SOURCES FLAG…): the sources once more, with vectors of so many floats.
function(fovea_instruction_set name lanes sources)
  add_library(fovea_kernels_${name} OBJECT ${sources})
  target_include_directories(fovea_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fovea_kernels_${name} PRIVATE fovea_flags)
  target_compile_definitions(fovea_kernels_${name} PRIVATE FOVEA_ISA=${name} FOVEA_LANES=${lanes})
  target_compile_options(fovea_kernels_${name} PRIVATE ${ARGN})
  target_sources(fovea_kernels PRIVATE $<TARGET_OBJECTS:fovea_kernels_${name}>)
endfunction()

# fovea_with(FOLDER MACRO LIBRARY…): an optional library, used inside the folder's sources only.
function(fovea_with folder macro)
  get_target_property(type fovea_${folder} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  target_link_libraries(fovea_${folder} PRIVATE ${ARGN})
  target_compile_definitions(fovea_${folder} PRIVATE ${macro}=1)
endfunction()

# fovea_embed(FOLDER FILES): the files of the folder FILES become part of the library (explain/draw/web_files.h).
function(fovea_embed folder files)
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${files}/*)
  set(output ${CMAKE_BINARY_DIR}/${files}_files.cc)
  add_custom_command(OUTPUT ${output} DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                     COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${files} -DOUTPUT=${output}
                             -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  target_sources(fovea_${folder} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# fovea_module(FOLDER PREFIX SOURCE LIBRARY…): an optional library whose symbols must not meet those of the others. It stays
# behind a shared library of ours, made from x_module.cc, which the folder opens at run time. PREFIX_PLACES says where it may lie:
# beside the program as it is installed, wherever that was moved to; as it is in the build folder, of the program and of tests; where it
# was to be installed, for programs that link the libraries and lie elsewhere.
function(fovea_module folder prefix source)
  string(TOLOWER ${prefix} target)
  add_library(${target} MODULE ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE fovea_flags ${ARGN})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fovea)
  string(REPLACE "FOVEA_" "FOVEA_WITH_" macro ${prefix})
  set(file $<TARGET_FILE_NAME:${target}>)
  file(RELATIVE_PATH moved ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/fovea)
  set(places ${moved}/${file}:./${file}:../${file}:${CMAKE_INSTALL_FULL_LIBDIR}/fovea/${file})
  target_compile_definitions(fovea_${folder} PRIVATE ${macro}=1 ${prefix}_PLACES="${places}")
  target_link_libraries(fovea_${folder} PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(fovea_${folder} ${target})
endfunction()

# fovea_program(NAME FOLDER): the command-line program; its commands are a library, so that tests can call them.
function(fovea_program name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(NOT sources)
    return()
  endif()
  get_property(folders GLOBAL PROPERTY FOVEA_FOLDERS)
  add_library(fovea_${folder} STATIC ${sources})
  target_include_directories(fovea_${folder} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(fovea_${folder} PRIVATE $<BUILD_INTERFACE:fovea_flags> PUBLIC ${folders} $<BUILD_INTERFACE:CLI11::CLI11>)
  set_target_properties(fovea_${folder} PROPERTIES EXPORT_NAME program)  # fovea/program.h, for programs with tasks of their own
  fovea_use_shared_header(fovea_${folder})
  fovea_unity(fovea_${folder})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${folder}/main.cc)
  target_link_libraries(${name} PRIVATE fovea_flags fovea_${folder})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# fovea_tests(FOLDER LIBRARY…): one test binary from tests/FOLDER/**_test.cc.
function(fovea_tests folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(fovea_${folder}_tests ${sources})
  target_include_directories(fovea_${folder}_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fovea_${folder}_tests PRIVATE fovea_flags ${ARGN} GTest::gtest GTest::gtest_main)
  fovea_unity(fovea_${folder}_tests)
  if(folder MATCHES "^(base|kernels)$")
    target_compile_options(fovea_${folder}_tests PRIVATE ${fovea_test_options})
  else()
    target_link_libraries(fovea_${folder}_tests PRIVATE fovea_fast_blas)
    fovea_use_shared_test_header(fovea_${folder}_tests)
  endif()
  target_compile_definitions(fovea_${folder}_tests PRIVATE FOVEA_TEST_FILES="${PROJECT_SOURCE_DIR}/tests")
  add_test(NAME ${folder} COMMAND fovea_${folder}_tests)
  set_tests_properties(${folder} PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1)  # small products; several binaries run at once
endfunction()

# cmake --install and find_package(fovea).
function(fovea_install)
  include(CMakePackageConfigHelpers)
  get_property(folders GLOBAL PROPERTY FOVEA_FOLDERS)
  add_library(fovea_all INTERFACE)
  set_target_properties(fovea_all PROPERTIES EXPORT_NAME fovea)
  add_library(fovea::fovea ALIAS fovea_all)
  target_link_libraries(fovea_all INTERFACE ${folders})
  install(TARGETS ${folders} fovea_cli fovea_all EXPORT fovea_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT fovea_targets FILE fovea-targets.cmake NAMESPACE fovea:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/fovea DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
          PATTERN "*-inl.h" EXCLUDE PATTERN "kernels/simd.h" EXCLUDE PATTERN "kernels/dispatch.h" EXCLUDE)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fovea-config.cmake.in ${CMAKE_BINARY_DIR}/fovea-config.cmake
                                INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/fovea-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/fovea-config.cmake ${CMAKE_BINARY_DIR}/fovea-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
endfunction()
