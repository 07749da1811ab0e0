# Writes OUTPUT with the commit of the tree SOURCE, when it is not what OUTPUT has: COMMIT if given, else what git says, with
# "-dirty" after it if files are changed, else what `git archive` has put into cmake/commit.txt.
if(NOT COMMIT AND EXISTS ${SOURCE}/.git)
   set(ENV{GIT_OPTIONAL_LOCKS} 0)
   execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
   file(STRINGS ${SOURCE}/cmake/commit.txt ARCHIVED LIMIT_COUNT 1)
   if(ARCHIVED MATCHES "^[0-9a-f]+$")
      string(SUBSTRING ${ARCHIVED} 0 12 COMMIT)
   endif()
endif()
if(NOT COMMIT)
   set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define OUZEL_COMMIT \"${COMMIT}\"\n")
