#pragma once
#include <string>
#include <vector>

#include "sql/bind/state/bind_state.hpp"

namespace ouzel::catalog {
struct FunctionInfo;
struct TypeInfo;
} // namespace ouzel::catalog

namespace ouzel::sql {

/// What the name of a call means.
struct Callee {
   std::string name;      ///< without its schema
   std::string shownName; ///< as it is written, for messages
   bool isQualified = false;
   std::vector<const catalog::FunctionInfo*> functions; ///< in the order of the search path
   const catalog::TypeInfo* extensionType = nullptr;    ///< of the same name: a call with one argument may be a cast
   catalog::RelationPtr rangeType; ///< of a user, whose constructors the functions are; null: they are others
};
/// Throws 3F000 for a schema that does not exist, 42501 for one that may not be used.
Callee calleeOf(BindState& state, const ::FuncCall& call, Clause clause);

/// The functions that a name in a call means, of which it has one or more parts.
std::vector<const catalog::FunctionInfo*> functionsCalled(const catalog::Snapshot& catalog,
                                                          const catalog::SearchPath& path, const ::List* name);

} // namespace ouzel::sql
