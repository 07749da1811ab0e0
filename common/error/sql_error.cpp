#include "common/error/sql_error.hpp"

namespace ouzel {

void throwNotSupported(std::string_view feature, uint32_t position, std::source_location where) {
   throw SqlError(sqlstate::featureNotSupported, std::string(feature) + " is not supported", where).at(position);
}

void throwInternal(std::string_view what, std::source_location where) {
   throw SqlError(sqlstate::internalError,
                  std::string(what) + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")", where);
}

} // namespace ouzel
