# Build rules: a library is a list of folders, a test binary is its *_test.cc files, and no folder lists its files.

function(weir_glob out)
  set(files)
  foreach(dir ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/${dir}/*.cc)
    list(APPEND files ${found})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# weir_precompile(TARGET header...): the option is what ccache needs to see through a precompiled header.
function(weir_precompile target)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# weir_library(NAME DIRS folder... DEPS library... [DEFINES definition...] [TEST_DEPS library...] [PRECOMPILE header...]):
# sources of the folders, and NAME_test from their *_test.cc. Headers are precompiled where most sources of a library
# read them for longer than they take themselves (weir_ops: 244 s without, 135 s with).
function(weir_library name)
  cmake_parse_arguments(ARG "" "" "DIRS;DEPS;DEFINES;TEST_DEPS;PRECOMPILE" ${ARGN})
  weir_glob(all ${ARG_DIRS})
  set(tests ${all})
  list(FILTER all EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(all)
    add_library(${name} STATIC ${all})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS})
    target_compile_definitions(${name} PUBLIC ${ARG_DEFINES})
    weir_precompile(${name} ${ARG_PRECOMPILE})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
  if(tests)
    weir_test(${name}_test "${tests}" unit ${name} ${ARG_TEST_DEPS})
  endif()
endfunction()

# weir_test_headers(): what every test reads first, compiled once for all of them.
function(weir_test_headers)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/test_headers.cc.new "namespace {}\n")
  file(COPY_FILE ${CMAKE_BINARY_DIR}/generated/test_headers.cc.new ${CMAKE_BINARY_DIR}/generated/test_headers.cc
       ONLY_IF_DIFFERENT)
  # An object that is compiled as those of executables are.
  add_library(weir_test_headers OBJECT ${CMAKE_BINARY_DIR}/generated/test_headers.cc)
  set_target_properties(weir_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(weir_test_headers PRIVATE -fPIE)
  target_link_libraries(weir_test_headers PRIVATE weir_base GTest::gmock GTest::gtest)
  weir_test_options(weir_test_headers)
  weir_precompile(weir_test_headers <gmock/gmock.h> <gtest/gtest.h> <string> <vector> <common/base/status.h>)
endfunction()

# weir_test_options(TARGET): what a test itself computes is small, so it is compiled for short builds; and with the options
# that gRPC asks for, as all tests read the same precompiled headers.
function(weir_test_options target)
  target_compile_options(${target} PRIVATE -pthread)
  target_compile_definitions(${target} PRIVATE WEIR_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  if(NOT WEIR_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# weir_test(NAME "sources" LABEL library...): one GoogleTest binary, one CTest entry.
function(weir_test name sources label)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARGN} GTest::gmock GTest::gtest GTest::gtest_main)
  if(NOT TARGET weir_test_headers)
    weir_test_headers()
  endif()
  weir_test_options(${name})
  target_precompile_headers(${name} REUSE_FROM weir_test_headers)
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 3600)
endfunction()

# weir_program(NAME folder DEPS library... [PRECOMPILE header...]): an executable from every source of one folder.
function(weir_program name dir)
  cmake_parse_arguments(ARG "" "" "DEPS;PRECOMPILE" ${ARGN})
  weir_glob(sources ${dir})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
    weir_precompile(${name} ${ARG_PRECOMPILE})
  endif()
endfunction()

# weir_proto_library(NAME folder): messages and gRPC stubs of every .proto below the folder.
function(weir_proto_library name dir)
  file(GLOB protos CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/proto ${CMAKE_SOURCE_DIR}/${dir}/*.proto)
  set(out ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto ${protos})
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(made ${out}/${stem}.pb.cc ${out}/${stem}.grpc.pb.cc)
    add_custom_command(
      OUTPUT ${made} ${out}/${stem}.pb.h ${out}/${stem}.grpc.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR}/proto --cpp_out=${out} --grpc_out=${out}
              --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${proto}
      DEPENDS ${CMAKE_SOURCE_DIR}/proto/${proto} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/proto VERBATIM)
    list(APPEND sources ${made})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC gRPC::grpc++ protobuf::libprotobuf)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE gRPC::grpc++ protobuf::libprotobuf)
  endif()
endfunction()

# weir_python(NAME folder DEPS library...): the Python package of folder/weir with its native module from folder/native, in
# ${CMAKE_BINARY_DIR}/python, and its tests as one CTest entry. A sanitizer would have to be part of the interpreter, so
# builds with one leave the package out.
function(weir_python name dir)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  if(WEIR_SANITIZE)
    return()
  endif()
  set(out ${CMAKE_BINARY_DIR}/python)
  weir_glob(sources ${dir}/native)
  pybind11_add_module(${name} MODULE NO_EXTRAS ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME _native CXX_VISIBILITY_PRESET hidden
                        LIBRARY_OUTPUT_DIRECTORY ${out}/weir)
  file(GLOB_RECURSE modules CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${dir} ${CMAKE_SOURCE_DIR}/${dir}/weir/*.py)
  set(copies)
  foreach(module ${modules})
    add_custom_command(
      OUTPUT ${out}/${module} DEPENDS ${CMAKE_SOURCE_DIR}/${dir}/${module}
      COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/${dir}/${module} ${out}/${module} VERBATIM)
    list(APPEND copies ${out}/${module})
  endforeach()
  add_custom_target(${name}_modules ALL DEPENDS ${copies})
  foreach(recipe pyproject.toml setup.py)
    configure_file(${dir}/${recipe} ${out}/${recipe} COPYONLY)
  endforeach()
  add_dependencies(${name} ${name}_modules)
  add_test(NAME ${name}_test COMMAND ${Python_EXECUTABLE} -m pytest -q -p no:cacheprovider ${CMAKE_SOURCE_DIR}/${dir}/tests)
  set_tests_properties(${name}_test PROPERTIES LABELS python TIMEOUT 3600
                       ENVIRONMENT "PYTHONPATH=${out};PYTHONDONTWRITEBYTECODE=1;WEIR_TEST_DATA=${CMAKE_SOURCE_DIR}/tests/data")
endfunction()

# weir_tests(folder): the tests, fuzz targets and benchmarks that cross folders, listed in the folder's own CMakeLists.txt.
function(weir_tests dir)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${dir}/CMakeLists.txt)
    add_subdirectory(${dir})
  endif()
endfunction()
