#pragma once
#include <optional>
#include <span>

#include "sql/bind/state/bound_rel.hpp"
#include "sql/bind/state/routine_call.hpp"

namespace ouzel::sql {

struct RowOnItsWay; // sql/bind/state/row_on_its_way.hpp

/// Makes expressions of functions whose language is no SQL. Used by the thread that binds.
class ProgramCompiler {
public:
   virtual ~ProgramCompiler() = default;
   /// The query that takes the place of a call, with the function's value as its only column. `parameters`: the columns
   /// that stand for its arguments. Empty: the function has to be run. REQUIRES: its body is being bound (InBody).
   virtual std::optional<BoundRel> compile(BindState& state, const RoutineCall& call,
                                           std::span<const ExprPtr> parameters) const = 0;
   /// Whether planning a query alone raises the error of a constant in it, as `1 / 0`. Its operators stay as they are.
   virtual bool failsWhenPlanned(BindState& state, BoundRel& query) const = 0;
   /// Puts what the function of a BEFORE ROW trigger does over `rel`, as sql/program/compile_trigger.hpp says. False:
   /// it has to be called.
   virtual bool compileTrigger(BindState& state, Scope& scope, const catalog::Relation& table,
                               const catalog::Trigger& trigger, const RowOnItsWay& row, ColumnId fires,
                               RelPtr& rel) const = 0;
};

} // namespace ouzel::sql
