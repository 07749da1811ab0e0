#include "common/error/format_version.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel {

void throwUnknownFormat(const std::string& object, uint64_t found, uint64_t known) {
   throw SqlError(sqlstate::featureNotSupported, "database files are incompatible with server")
       .detail(object + " has format " + std::to_string(found) + ", this server reads format " + std::to_string(known) +
               ".")
       .hint(found > known ? "A newer server wrote the database. Start it with that server, or with a later one."
                           : "An older server wrote the database. Start it with that server, and move its tables with "
                             "COPY (docs/OPERATIONS.md, \"Upgrade\").");
}

} // namespace ouzel
