#pragma once
#include <string>
#include <string_view>

// Bodies of functions that are no strings, as SQL statements: cut out of the text of CREATE FUNCTION.

namespace ouzel::engine {

/// RETURN expression: a query of it.
std::string returnedQuery(std::string_view statement);
struct AtomicBody {
   std::string statements; ///< with semicolons between them; RETURN is a query
   bool returns = false;   ///< the last one was RETURN
};
/// The statements of BEGIN ATOMIC ... END.
AtomicBody atomicStatements(std::string_view statement);

/// A position in what they return, in characters from 1, as one in the statement; 0: it is not known.
uint32_t positionInBody(std::string_view statement, std::string_view body, uint32_t position);

} // namespace ouzel::engine
