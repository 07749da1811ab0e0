#pragma once
#include "engine/core/session_core.hpp"
#include "sql/bind/state/program_compiler.hpp"

namespace ouzel::engine {

/// The functions in PL/pgSQL that a session calls, as expressions where they can be (sql/program/compile_program.hpp).
class SessionPrograms final : public sql::ProgramCompiler {
public:
   explicit SessionPrograms(SessionCore& core) : core_(core) {}
   std::optional<sql::BoundRel> compile(sql::BindState& state, const sql::RoutineCall& call,
                                        std::span<const sql::ExprPtr> parameters) const override;

   bool failsWhenPlanned(sql::BindState& state, sql::BoundRel& query) const override;
   bool compileTrigger(sql::BindState& state, sql::Scope& scope, const catalog::Relation& table,
                       const catalog::Trigger& trigger, const sql::RowOnItsWay& row, sql::ColumnId fires,
                       sql::RelPtr& rel) const override;

private:
   std::optional<sql::BoundRel> compiled(sql::BindState& state, const sql::RoutineCall& call,
                                         std::span<const sql::ExprPtr> parameters, std::string& why) const;

   SessionCore& core_;
};

} // namespace ouzel::engine
