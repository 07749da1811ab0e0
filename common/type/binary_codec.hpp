#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/type/user_types.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"
#include "common/value/vector.hpp"

// Values in the wire's binary formats, as PostgreSQL's send and receive functions. Length words are the message's, not
// the value's.

namespace ouzel {

/// Append the binary form of one value (not NULL). `types`: for the values of users' types; null: there are none.
/// Throws 42883 for types without one.
void appendBinary(std::string& out, const SqlType& type, Representation representation, const void* value,
                  const UserTypes* types);

/// As appendTextColumn.
void appendBinaryColumn(std::string& bytes, uint32_t* ends, const SqlType& type, Representation representation,
                        const Vector& values, const Selection& selection, const UserTypes* types);

/// The receive function: a value in storedRepresentation(type), typmod applied as on assignment. Throws 22P03
/// "incorrect binary data format", 08P01 "insufficient data left in message" and the errors of the type's own input.
Value parseBinary(const SqlType& type, std::string_view bytes, const UserTypes* types);
void parseBinaryInto(void* target, const SqlType& type, std::string_view bytes, Arena& arena, const UserTypes* types);

/// Where the binary form of a type's values has text, which is in the client's encoding.
enum class BinaryTexts : uint8_t {
   None,
   Everywhere,
   InParts, ///< between bytes that are none
};
BinaryTexts textsInBinary(Oid type);

} // namespace ouzel
