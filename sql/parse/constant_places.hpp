#pragma once
#include <cstdint>
#include <vector>

#include "sql/parse/parser.hpp"

namespace ouzel::sql {

/// A constant of a query, by its place in the text.
struct ConstantPlace {
   enum class Kind : uint8_t { Integer, BigInteger, Decimal, String, Bits, Boolean, Null };

   uint32_t offset; ///< in bytes, in the script; of a negative number: its minus sign
   Kind kind;
};

/// The constants of a query in the order of the text. What only looks like one does not count: the numbers of
/// ORDER BY 1, and those of types.
struct ConstantPlaces {
   std::vector<ConstantPlace> places;
   int32_t parametersMax = 0; ///< the highest $n of the query
   bool isComplete = true;    ///< false: the query is nested too deep to look into it
};

/// REQUIRES: the statement is a query: SELECT, INSERT, UPDATE, DELETE, MERGE or VALUES.
ConstantPlaces findConstants(const ::Node& query);

} // namespace ouzel::sql
