#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/memory/allocation_meter.hpp"
#include "engine/core/program_cache.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/program/scalar_code.hpp"
#include "engine/program/variables.hpp"
#include "executor/expression/program.hpp"

// SQL texts of programs in the forms in which they are executed. A text is parsed once. One that is a list of
// expressions over variables is bound and compiled once for the types of the variables; a query gets a generic plan
// where a prepared statement would (engine/query/generic_plan.hpp), else it is planned for the values of each
// execution. Both are made anew when objects or settings have changed, or the record of a variable has other fields.

namespace ouzel::engine {

class GenericPlan;
class QueryExecution;
struct ProgramQuery;

/// Expressions over variables, compiled together.
class ValuesCode {
public:
   /// Null: the query is no list of expressions over values, and has to be planned.
   static std::unique_ptr<ValuesCode> make(sql::BoundQuery query, std::vector<ParameterSource> sources);
   /// The same of expressions over Parameters. `columns`: gets columns for these.
   static std::unique_ptr<ValuesCode> compile(std::vector<sql::ExprPtr> exprs, std::span<const std::string> names,
                                              sql::ColumnTable& columns, std::vector<ParameterSource> sources);
   ~ValuesCode();

   /// The columns of the one row.
   const std::vector<std::pair<std::string, SqlType>>& columns() const { return columns_; }
   /// Null: the row has more than one column, or its value needs more than registers.
   ScalarCode* scalar() const { return scalar_.get(); }
   bool isVolatile() const { return isVolatile_; }
   /// Whether its errors come when it is computed, not when it is planned: it reads variables, or is volatile.
   bool isComputedApart() const { return isVolatile_ || !sources_.empty() || isConstant_; }
   /// Computes the row, with values as rows have them. May be called again while it runs.
   std::vector<Value> run(SessionCore& core, const Variables* variables);

private:
   struct State;
   ValuesCode() = default;

   std::vector<std::pair<std::string, SqlType>> columns_;
   std::vector<ParameterSource> sources_;
   std::vector<PhysicalType> physicals_; ///< of the sources
   std::shared_ptr<const executor::ExpressionProgram> program_;
   std::unique_ptr<ScalarCode> scalar_;
   bool isVolatile_ = false;
   bool isConstant_ = false;                  ///< has no errors at all
   bool hasStable_ = false;                   ///< parts of it hold for one execution only
   std::vector<std::unique_ptr<State>> idle_; ///< of earlier runs; a recursion uses several at a time
};

/// One text. Belongs to a session's thread.
class CompiledText {
public:
   enum class Kind : uint8_t { Empty, Command, Values, Query };

   /// Parses the text. Throws 0A000 for several statements.
   explicit CompiledText(const std::string& text);
   ~CompiledText();

   const sql::ParsedScript& script() const { return script_; }
   const sql::ParsedStatement& statement() const { return script_.statements()[0]; }
   /// Binds the text if it has to be, or if objects, settings or types have changed since. `query`: with which it is
   /// executed; its variables are those of one program, always. `isPlanned`: also a list of expressions.
   Kind prepare(const ProgramQuery& query, bool isPlanned = false);
   /// The code of one expression that is current, needs registers only and has an error of its own at most; null: it
   /// has to be executed otherwise.
   ScalarCode* scalar(SessionCore& core, const Variables& variables, const SqlType& type) const;
   /// REQUIRES: the kind is Values.
   ValuesCode& values() { return *values_; }
   /// Starts a query, as startQuery() does. REQUIRES: prepared; statements that are bound see the variables.
   std::unique_ptr<QueryExecution> start(const ProgramQuery& query);

private:
   bool isCurrent(SessionCore& core, const Variables* variables) const;
   /// Whether prepare() would change nothing.
   bool isCurrent(const ProgramQuery& query) const;
   void setSources(const Variables* variables, std::vector<ParameterSource> sources);
   void bind(const ProgramQuery& query);
   /// The values of the plan's Parameters. False: one of them fails.
   bool computeParameters(const ProgramQuery& query, std::vector<BoundParameter>& values);
   /// A plan for all values that nobody uses; null: there is none.
   std::shared_ptr<GenericPlan> freePlan(const ProgramQuery& query);

   const sql::ParsedScript script_;
   Kind kind_ = Kind::Query;
   bool isBound_ = false, hasRun_ = false, needsPlanning_ = false;
   bool mayChange_ = false; ///< the types of some sources
   uint64_t catalogVersion_ = 0, settingsVersion_ = 0;
   std::vector<SqlType> types_; ///< casts of the columns
   std::vector<ParameterSource> sources_;
   std::unique_ptr<ValuesCode> values_;
   std::unique_ptr<ValuesCode> keys_; ///< expressions by which the plans look up: Parameters behind the sources
   std::vector<std::shared_ptr<GenericPlan>> plans_; ///< one for each level of recursion, up to a limit
   MemoryCharge memory_;
};

/// The texts of one program, by their ids. The value of an assignment to a part of a variable is also a text with the
/// whole variable as its result; that has the number behind those of all texts.
class CompiledTexts final : public CompiledProgram {
public:
   explicit CompiledTexts(const sql::program::Program& program) : texts_(2 * size_t{program.textCount}) {}

   /// Null: the text was not executed yet.
   CompiledText* find(uint32_t id) const { return texts_[id].get(); }
   /// The text, parsed.
   std::shared_ptr<CompiledText> get(uint32_t id, const std::string& text);

private:
   std::vector<std::shared_ptr<CompiledText>> texts_;
};

} // namespace ouzel::engine
