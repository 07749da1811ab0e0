# The headers of the standard library that many sources include are read once instead of once for each source, where they
# are a third of the compile time. A source still names all that it uses: the preset `tsan` builds without precompiled
# headers, and a forgotten include fails there.
file(TOUCH ${CMAKE_BINARY_DIR}/standard_headers.cpp)
add_library(ouzel_standard_headers OBJECT ${CMAKE_BINARY_DIR}/standard_headers.cpp)
target_precompile_headers(ouzel_standard_headers PRIVATE <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath>
   <cstddef> <cstdint> <cstdlib> <cstring> <deque> <exception> <functional> <map> <memory> <mutex> <optional> <set> <span>
   <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

foreach(room common io storage catalog sql optimizer executor engine protocol server)
   target_precompile_headers(ouzel_${room} REUSE_FROM ouzel_standard_headers)
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
