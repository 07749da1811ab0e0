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
endforeach()
