#include "common/type/user_types.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel {

void checkDomain(const SqlType& type, const Value& value, const UserTypes* types) {
   if (type.domain == invalidOid) return;
   if (!types) throwInternal("a value of a domain, and no catalog to look its checks up in");
   alignas(16) std::byte place[16] = {};
   const ValidityWord validity = value.isNull ? 0 : 1;
   if (!value.isNull) value.store(place);
   const RowIndex row = 0;
   types->checkDomain(type.domain, Vector::flat(value.type, place, &validity), Selection::list(&row, 1));
}

} // namespace ouzel
