#pragma once
#include "sql/bind/state/bound_rel.hpp"
#include "sql/bind/state/routine_call.hpp"

namespace ouzel::sql {

/// What a function returns: one type, or the columns of a row.
struct RoutineResult {
   struct Column {
      std::string name;
      SqlType type;
   };
   SqlType type;                ///< record, a row type, or the type of the value
   std::vector<Column> columns; ///< of a row; empty: the value is of a scalar type
   bool isRow() const { return !columns.empty(); }
};
/// `declared`: as in RoutineCall. `definitions`: a column definition list, or null. Throws 42601 if a record needs one.
RoutineResult resultOf(BindState& state, const catalog::Function& function, std::span<const Oid> declared,
                       const ::List* definitions, uint32_t position);

/// The search_path of SET, or of a body whose names have their meanings already; empty: that of the session.
std::optional<catalog::SearchPath> bodyPath(const BindContext& context, const catalog::Function& function);

/// While it lives, the body of the function is bound: nothing of the statement around it is visible but the arguments.
class InBody {
public:
   InBody(BindState& state, const catalog::Function& function, const std::vector<ExprPtr>& args);
   ~InBody();
   InBody(const InBody&) = delete;

private:
   BindState& state_;
   const SourceText* const source_;
   const BindState::RecursionContext recursion_;
   const std::vector<ExprPtr>* const inlineArgs_;
   const catalog::Function* const routine_;
   const catalog::SearchPath* const path_;
   ViewTextRecorder* const recorder_;
   const Oid role_, routineRole_;
   std::optional<catalog::SearchPath> ownPath_;
};

/// Columns that stand for the arguments while a body is bound. They belong to no query level, so that an aggregate over
/// them belongs to the body.
std::vector<ExprPtr> placeholders(BindState& state, const catalog::Function& function, std::span<const Oid> declared);

/// What a body's last query is bound with, as `assignTo` of bindSelect(): ROW(...) gives the row that is returned, or
/// one in it.
std::vector<SqlType> rowTarget(const ::SelectStmt& select, const RoutineResult& result);
/// The result of the body's last query, cast to what the function returns: one column of a scalar type, or the columns
/// of the row. Throws 42P13 `return type mismatch in function declared to return integer`.
BoundRel castResult(BindState& state, BoundRel query, const RoutineResult& result);

/// What the function whose arguments are `state.inlineArgs` returns.
RoutineResult runResult(BindState& state, const catalog::Function& function);
/// The same as one column: a value of the row type that the function returns, or a record.
BoundRel routineRow(BindState& state, BoundRel query, const catalog::Function& function);
/// Makes the columns of a row one value.
void makeOneColumn(BindState& state, BoundRel& query, const RoutineResult& result);

} // namespace ouzel::sql
