#include "common/base_type/wire.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel {

void throwTooShort() {
   throw SqlError(sqlstate::protocolViolation, "insufficient data left in message");
}

void throwIncorrect() {
   throw SqlError(sqlstate::invalidBinaryRepresentation, "incorrect binary data format");
}

} // namespace ouzel
