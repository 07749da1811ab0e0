#include "common/error/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace ouzel {

void checkFailed(const char* condition, std::source_location where) {
   std::fprintf(stderr, "%s:%u: check failed in %s: %s\n", where.file_name(), where.line(), where.function_name(),
                condition);
   std::abort();
}

} // namespace ouzel
