#pragma once
#include <string>

struct Node;
struct VariableSetStmt;

// The values that SET statements give settings, also those inside ALTER ROLE and ALTER DATABASE.

namespace ouzel::engine {

/// A constant as the text of a setting.
std::string constantText(const ::Node* node);
/// The value of SET name = ...; lists are joined.
std::string valueOf(const ::VariableSetStmt& statement);

} // namespace ouzel::engine
