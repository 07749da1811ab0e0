# Arrow C++ as PyPI's pyarrow wheel ships it: headers, libarrow and libparquet (release builds, new C++ ABI). Optional:
# without it read_parquet and COPY ... (FORMAT parquet) are 0A000. scripts/install-deps puts it below
# ${XDG_DATA_HOME:-~/.local/share}/ouzel/arrow, a Python environment that tests use, too.
set(OUZEL_ARROW "" CACHE PATH "Directory of a pyarrow package; empty: where scripts/install-deps puts it; OFF: no Parquet")
if(OUZEL_ARROW STREQUAL "")
   if(DEFINED ENV{XDG_DATA_HOME})
      set(OUZEL_ARROW_ENVIRONMENT "$ENV{XDG_DATA_HOME}/ouzel/arrow")
   else()
      set(OUZEL_ARROW_ENVIRONMENT "$ENV{HOME}/.local/share/ouzel/arrow")
   endif()
   file(GLOB OUZEL_ARROW_FOUND "${OUZEL_ARROW_ENVIRONMENT}/lib/python3*/site-packages/pyarrow")
else()
   set(OUZEL_ARROW_FOUND "${OUZEL_ARROW}")
endif()
set(OUZEL_PARQUET OFF)
if(OUZEL_ARROW_FOUND AND EXISTS "${OUZEL_ARROW_FOUND}/include/parquet/arrow/reader.h")
   # The wheel's libraries have their version in their names and no links without it.
   file(GLOB OUZEL_ARROW_LIBRARIES "${OUZEL_ARROW_FOUND}/libparquet.so.*" "${OUZEL_ARROW_FOUND}/libarrow.so.*")
   add_library(ouzel_arrow INTERFACE)
   target_link_libraries(ouzel_arrow INTERFACE ${OUZEL_ARROW_LIBRARIES})
   target_include_directories(ouzel_arrow SYSTEM INTERFACE "${OUZEL_ARROW_FOUND}/include")
   set(OUZEL_PARQUET ON)
endif()
message(STATUS "Parquet: ${OUZEL_PARQUET} ${OUZEL_ARROW_FOUND}")
