#pragma once
// PostgreSQL's parse tree structs as libpg_query builds them. Include only from .cpp files and from internal headers of
// sql/bind: the server headers define macros that collide with common names; the worst macros are undone below. Never
// call a server function: most of these functions end the process when they fail.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define text pg_text
extern "C" {
// clang-format off
#include <postgres.h>
#include <nodes/parsenodes.h>
// clang-format on
}
#undef text
#undef printf
#undef fprintf
#undef sprintf
#undef snprintf
#undef vprintf
#undef vfprintf
#undef vsprintf
#undef vsnprintf
#undef strerror
#undef strerror_r
#undef qsort
#undef _
#undef Min
#undef Max
#undef Abs
#undef Assert
#undef Trap
#undef restrict
#undef likely
#undef unlikely
#undef LOG
#undef INFO
#undef NOTICE
#undef WARNING
#undef ERROR
#undef FATAL
#undef PANIC
#undef DEBUG1
#undef DEBUG2
#undef DEBUG3
#undef DEBUG4
#undef DEBUG5
#undef foreach
#undef list_make1
#undef list_make2
#undef gettext

/// libpg_query numbers LimitOption differently from PostgreSQL's header (its 05_limit_option_enum patch): 0 none, 1
/// count, 2 with ties.
inline constexpr int limitOptionWithTies = 2;
