#pragma once
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"

// Pieces of SQL text and error text for the checks of constraints.

namespace ouzel::engine {

std::string joinTexts(const std::vector<std::string>& parts, const char* separator);
/// schema.table, quoted where needed.
std::string tableName(SessionCore& core, const catalog::Relation& relation);
/// The values of a key as text, NULL as "null".
std::vector<std::string> keyTexts(SessionCore& core, const catalog::Relation& relation,
                                  const std::vector<int16_t>& attributes, const std::vector<Value>& key);
/// The same for a key whose columns have these types.
std::vector<std::string> keyTexts(SessionCore& core, const std::vector<SqlType>& types, const std::vector<Value>& key);
std::vector<std::string> valueLiterals(SessionCore& core, const std::vector<SqlType>& types,
                                       const std::vector<Value>& key);
/// The same as SQL literals of the columns' types.
std::vector<std::string> keyLiterals(SessionCore& core, const catalog::Relation& relation,
                                     const std::vector<int16_t>& attributes, const std::vector<Value>& key);

} // namespace ouzel::engine
