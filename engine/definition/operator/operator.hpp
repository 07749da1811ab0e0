#pragma once
#include "catalog/object/cast.hpp"
#include "catalog/object/operator.hpp"
#include "engine/definition/definition.hpp"
#include "sql/parse/node_access.hpp"

struct AlterOperatorStmt;
struct CreateCastStmt;
struct DefineStmt;
struct ObjectWithArgs;

// CREATE, ALTER and DROP of operators and casts.

namespace ouzel::engine {

// create_operator.cpp
std::string createOperator(CommandContext& context, const ::DefineStmt& statement);
/// The function for RESTRICT or JOIN. Throws 42883, 42P13 for one that gives no float8.
Oid requireEstimator(SessionCore& core, const std::vector<std::string>& name, bool isJoin);

// change_operator.cpp
/// The operator of a user that a DROP, ALTER or COMMENT names; null: the name is that of a built-in one, or of none.
catalog::OperatorPtr findUserOperator(CommandContext& context, const ::ObjectWithArgs& name);
/// ALTER OPERATOR ... SET; empty: the operator is built in, or there is none.
std::optional<std::string> alterOperator(CommandContext& context, const ::AlterOperatorStmt& statement);
/// `must be owner of operator ===`.
void requireOwner(SessionCore& core, const catalog::Operator& op);
/// Who may drop an operator: its owner, or that of its schema.
void requireDroppable(SessionCore& core, const catalog::Operator& op);
void moveOperator(SessionCore& core, const catalog::Operator& op, const char* schema);
void changeOperatorOwner(SessionCore& core, const catalog::Operator& op, Oid owner);
void reassignOperators(SessionCore& core, Oid from, Oid to);

// create_cast.cpp
std::string createCast(CommandContext& context, const ::CreateCastStmt& statement);
/// Throws 42501 unless the role owns one of the types.
void requireDroppable(SessionCore& core, const catalog::Cast& cast);

} // namespace ouzel::engine
