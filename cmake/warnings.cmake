# Linked privately by every target of ours and by nothing from outside.
add_library(ouzel_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
   # The compiler of the preset `debug`: what gcc does not see, above all which mutex guards what (common/sync/mutex.hpp).
   target_compile_options(ouzel_warnings INTERFACE
      -Wall -Wthread-safety -Wsuggest-override -Wrange-loop-analysis -Wno-deprecated-declarations -Werror)
else()
   target_compile_options(ouzel_warnings INTERFACE
      -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
      # __int128 is a gcc extension that the decimal kernels are built on, so -Wpedantic stays off.
      # Narrowing arithmetic on 16-bit row indexes would need a cast in each line of a kernel.
      -Wno-sign-conversion
      # gcc 12 reports these falsely in inlined standard library code (PR 105329, 105651).
      -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-stringop-overread)
endif()
