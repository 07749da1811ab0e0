#include "sql/parse/string_syntax.hpp"

// libpg_query's scanner reads this variable, which no header declares. Each thread has its own.
extern "C" {
extern __thread bool standard_conforming_strings;
}

namespace ouzel::sql {

StringSyntax::StringSyntax(bool isStandard) : previous_(standard_conforming_strings) {
   standard_conforming_strings = isStandard;
}

StringSyntax::~StringSyntax() {
   standard_conforming_strings = previous_;
}

} // namespace ouzel::sql
