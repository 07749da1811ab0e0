#pragma once
#include "catalog/object/function.hpp"
#include "engine/definition/definition.hpp"
#include "engine/query/object_kind.hpp"
#include "sql/parse/node_access.hpp"

struct AlterFunctionStmt;
struct CreateFunctionStmt;
struct DefineStmt;
struct GrantStmt;
struct ObjectWithArgs;

// CREATE, ALTER and DROP of functions, procedures and aggregates.

namespace ouzel::engine {

// create_function.cpp
std::string createFunction(CommandContext& context, const ::CreateFunctionStmt& statement);

// create_aggregate.cpp
std::string createAggregate(CommandContext& context, const ::DefineStmt& statement);

// change_function.cpp. Null or std::nullopt: the name is that of a built-in function, or of none; see
// findSystemObject().
/// The function of a user that a DROP, ALTER, COMMENT or GRANT names. Throws 42725 for a name that is not unique, 42809
/// for another kind of routine.
catalog::FunctionPtr findUserFunction(CommandContext& context, ::ObjectType type, const ::ObjectWithArgs& name);
std::optional<std::string> alterFunction(CommandContext& context, const ::AlterFunctionStmt& statement);
/// `must be owner of function f`.
void requireOwner(SessionCore& core, const catalog::Function& function);
/// Who may drop a function: its owner, or that of its schema.
void requireDroppable(SessionCore& core, const catalog::Function& function);
void renameFunction(SessionCore& core, const catalog::Function& function, const char* name);
void moveFunction(SessionCore& core, const catalog::Function& function, const char* schema);
void changeFunctionOwner(SessionCore& core, const catalog::Function& function, Oid owner);
/// GRANT and REVOKE on functions and procedures.
std::string grantFunctions(CommandContext& context, const ::GrantStmt& statement);
void reassignFunctions(SessionCore& core, Oid from, Oid to);
/// Throws 0A000 for a column that the body of a function reads or writes: its type cannot change.
void requireNotInFunctions(SessionCore& core, const catalog::Relation& table, int16_t attribute);

// attributes.cpp
/// What CREATE and ALTER FUNCTION say besides the signature and the body: volatility, STRICT, COST, SET, ...
class FunctionAttributes {
public:
   /// Reads one of the options. False: it is none of these (LANGUAGE, AS, WINDOW, TRANSFORM). Throws 42601 for the
   /// second of a kind.
   bool read(CommandContext& context, const ::DefElem& option, bool isProcedure);
   /// Puts what was said into a function. Throws 22023 for a cost or number of rows that cannot be.
   void apply(CommandContext& context, catalog::FunctionDefinition& function) const;

private:
   void take(CommandContext& context, const ::DefElem*& place, const ::DefElem& option);

   const ::DefElem *volatility_ = nullptr, *strict_ = nullptr, *security_ = nullptr, *leakproof_ = nullptr,
                   *parallel_ = nullptr, *cost_ = nullptr, *rows_ = nullptr, *support_ = nullptr;
   std::vector<const ::DefElem*> settings_;
};

} // namespace ouzel::engine
