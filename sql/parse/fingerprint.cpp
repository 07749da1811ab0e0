#include "sql/parse/fingerprint.hpp"

#include <pg_query.h>
#include <string>

namespace ouzel::sql {

uint64_t fingerprint(std::string_view sql) {
   const PgQueryFingerprintResult result = pg_query_fingerprint(std::string(sql).c_str());
   const uint64_t value = result.error ? 0 : result.fingerprint;
   pg_query_free_fingerprint_result(result);
   return value;
}

} // namespace ouzel::sql
