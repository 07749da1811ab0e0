# The commit that `ouzel --version` names. Each build asks for it; only one small source is compiled again when it has changed.
set(OUZEL_COMMIT "" CACHE STRING "The commit that the program names; empty: asked of git, or of a source archive")
set(OUZEL_COMMIT_HEADER ${CMAKE_BINARY_DIR}/generated/commit.hpp)
add_custom_target(ouzel_commit
   COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${OUZEL_COMMIT_HEADER} -DCOMMIT=${OUZEL_COMMIT}
      -P ${CMAKE_SOURCE_DIR}/cmake/write_commit.cmake
   BYPRODUCTS ${OUZEL_COMMIT_HEADER} COMMENT "Asking for the commit" VERBATIM)
