# Headers that many sources include are read once instead of once for each source, where reading them is two thirds of the
# compile time: those of the standard library for all rooms, and in the larger rooms the own headers that about half of
# the room's sources include. A source still names all that it uses: scripts/check_clang.py compiles it with the headers of
# the standard library alone, and scripts/check_includes.py looks whether it includes those.
file(TOUCH ${CMAKE_BINARY_DIR}/standard_headers.cpp)
set(standard_headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath>
   <cstddef> <cstdint> <cstdlib> <cstring> <deque> <exception> <functional> <map> <memory> <mutex> <optional> <set> <span>
   <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
add_library(ouzel_standard_headers OBJECT ${CMAKE_BINARY_DIR}/standard_headers.cpp)
target_precompile_headers(ouzel_standard_headers PRIVATE ${standard_headers})

set(headers_of_storage storage/block/block.hpp storage/table/segment.hpp)
set(headers_of_catalog catalog/object/search_path.hpp)
set(headers_of_sql sql/bind/state/bind_state.hpp sql/bind/type/type_rules.hpp)
set(headers_of_optimizer optimizer/cardinality/estimator.hpp optimizer/rewrite/rules.hpp)
set(headers_of_executor executor/function/context.hpp executor/function/kernel_helpers.hpp sql/algebra/expr.hpp)
set(headers_of_engine engine/query/command_context.hpp engine/definition/definition.hpp)

foreach(room common io storage catalog sql optimizer executor engine protocol server)
   if(headers_of_${room})
      list(TRANSFORM headers_of_${room} REPLACE "(.+)" "\"\\1\"")
      target_precompile_headers(ouzel_${room} PRIVATE ${standard_headers} ${headers_of_${room}})
   else()
      target_precompile_headers(ouzel_${room} REUSE_FROM ouzel_standard_headers)
   endif()
   # gcc 12 crashes on some sources with another -O than the precompiled header's.
   get_target_property(directory ouzel_${room} SOURCE_DIR)
   get_target_property(sources ouzel_${room} SOURCES)
   foreach(source ${sources})
      get_source_file_property(options ${directory}/${source} TARGET_DIRECTORY ouzel_${room} COMPILE_OPTIONS)
      if(options)
         set_source_files_properties(${directory}/${source} TARGET_DIRECTORY ouzel_${room}
            PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
   endforeach()
endforeach()
