#include "engine/program/compiled_text.hpp"

#include <algorithm>

#include "engine/core/trigger_call.hpp"
#include "engine/program/constant_errors.hpp"
#include "engine/program/program_query.hpp"
#include "engine/query/generic_plan.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/algebra/build.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;

namespace {

/// Plans of one text that are in use at a time; a recursion that is deeper plans for its values.
constexpr size_t plansMax = 4;

/// While it lives, names that are bound become Parameters.
class MakesParameters {
public:
   MakesParameters(Variables* variables, std::vector<ParameterSource>& sources) : variables_(variables) {
      sources.clear();
      if (variables_) variables_->setSources(&sources);
   }
   ~MakesParameters() {
      if (variables_) variables_->setSources(nullptr);
   }
   MakesParameters(const MakesParameters&) = delete;

private:
   Variables* const variables_;
};

/// Whether an expression is computed from Parameters, and is none itself.
bool isComputedKey(const sql::Expr& expr) {
   if (expr.kind == sql::ExprKind::Parameter || expr.type.oid == oid::bpchar || sql::isVolatile(expr)) return false;
   bool hasParameter = false, isPlain = true;
   sql::forEachExpr(expr, [&](const sql::Expr& node) {
      hasParameter = hasParameter || node.kind == sql::ExprKind::Parameter;
      isPlain = isPlain && node.kind != sql::ExprKind::Column && node.kind != sql::ExprKind::Subquery &&
                (node.kind != sql::ExprKind::Parameter || node.type.oid != oid::bpchar);
      return isPlain;
   });
   return hasParameter && isPlain;
}

/// Puts Parameters from `number` on in the place of expressions with which columns are compared, so that rows can be
/// looked up by them.
void takeKeys(sql::Rel& rel, size_t number, std::vector<sql::ExprPtr>& keys) {
   const auto take = [&](sql::Expr& conjunct) {
      if (conjunct.kind != sql::ExprKind::Compare) return;
      for (size_t side = 0; side < 2; ++side) {
         sql::ExprPtr& key = conjunct.args[side];
         if (conjunct.args[1 - side]->kind != sql::ExprKind::Column || !isComputedKey(*key)) continue;
         SqlType type = key->type;
         if (type.oid == oid::numeric) type.typmod = -1;
         auto parameter = sql::makeTyped(sql::ExprKind::Parameter, type, key->position);
         parameter->as<sql::scalar::Parameter>().number = static_cast<uint32_t>(number + keys.size());
         keys.push_back(std::exchange(key, std::move(parameter)));
      }
   };
   if (auto* select = rel.getIf<sql::op::Select>(); select && select->predicate) {
      if (select->predicate->kind == sql::ExprKind::And)
         for (sql::ExprPtr& conjunct : select->predicate->args)
            take(*conjunct);
      else
         take(*select->predicate);
   }
   sql::forEachChild(rel, [&](sql::RelPtr& child) { takeKeys(*child, number, keys); });
}

} // namespace

CompiledText::CompiledText(const std::string& text) : script_(sql::ParsedScript::parse(text)) {
   const auto& statements = script_.statements();
   if (statements.size() > 1) throwNotSupported("several statements in one EXECUTE");
   if (statements.empty())
      kind_ = Kind::Empty;
   else if (!isQuery(statements[0]))
      kind_ = Kind::Command;
}

CompiledText::~CompiledText() = default;

bool CompiledText::isCurrent(SessionCore& core, const Variables* variables) const {
   if (!isBound_ || catalogVersion_ != core.transaction.catalog().version() ||
       settingsVersion_ != core.settings.version())
      return false;
   return !mayChange_ ||
          std::ranges::all_of(sources_, [&](const ParameterSource& source) { return variables->has(source); });
}

bool CompiledText::isCurrent(const ProgramQuery& query) const {
   return isCurrent(query.core, query.variables) && std::ranges::equal(types_, query.types);
}

ScalarCode* CompiledText::scalar(SessionCore& core, const Variables& variables, const SqlType& type) const {
   if (kind_ != Kind::Values || !values_->scalar() || types_.size() != 1 || !(types_[0] == type) ||
       !isCurrent(core, &variables))
      return nullptr;
   return values_->isComputedApart() ? values_->scalar() : nullptr;
}

CompiledText::Kind CompiledText::prepare(const ProgramQuery& query, bool isPlanned) {
   if (kind_ == Kind::Empty || kind_ == Kind::Command || isCurrent(query)) return kind_;
   isBound_ = hasRun_ = needsPlanning_ = false;
   plans_.clear();
   values_.reset();
   kind_ = Kind::Query;
   types_.assign(query.types.begin(), query.types.end());
   setSources(query.variables, {});
   if (!isPlanned) bind(query);
   catalogVersion_ = query.core.transaction.catalog().version();
   settingsVersion_ = query.core.settings.version();
   isBound_ = true;
   return kind_;
}

void CompiledText::bind(const ProgramQuery& query) {
   const ::Node& node = *statement().node;
   if (!query.parameters.empty() || !isNode(&node, T_SelectStmt) || as<::SelectStmt>(&node)->fromClause) return;
   AllocationMeter meter(query.core.database.governor->ledger());
   std::vector<ParameterSource> sources;
   sql::BoundQuery bound;
   {
      const MakesParameters parameters(query.variables, sources);
      bound = bindUnderLocks(query.core, script_, node, std::span<const Oid>());
   }
   // Where a known NULL hides a constant that fails, it would do so for code as well.
   if (bound.root && bound.relations.empty()) raiseConstantErrors(query.core, *bound.root, bound.output, bound.columns);
   values_ = ValuesCode::make(std::move(bound), sources);
   if (!values_) return;
   kind_ = Kind::Values;
   setSources(query.variables, std::move(sources));
   memory_ = meter.settle();
}

void CompiledText::setSources(const Variables* variables, std::vector<ParameterSource> sources) {
   sources_ = std::move(sources);
   mayChange_ = std::ranges::any_of(sources_, [&](const ParameterSource& source) {
      return source.field != ParameterSource::noField || !variables->typeOf(source.variable);
   });
}

std::shared_ptr<GenericPlan> CompiledText::freePlan(const ProgramQuery& query) {
   SessionCore& core = query.core;
   if (core.trigger && core.trigger->transitions) return nullptr; // of other tables in the next call
   if (!query.variables || !std::exchange(hasRun_, true) || needsPlanning_) return nullptr;
   std::erase_if(plans_, [&](const auto& plan) { return plan->isFree() && !plan->isCurrent(core); });
   for (const std::shared_ptr<GenericPlan>& plan : plans_)
      if (plan->isFree()) return plan;
   if (plans_.size() >= plansMax) return nullptr;
   AllocationMeter meter(core.database.governor->ledger());
   std::vector<ParameterSource> sources;
   sql::BoundQuery bound;
   {
      const MakesParameters parameters(query.variables, sources);
      bound = bindUnderLocks(core, script_, *statement().node, std::span<const Oid>());
   }
   std::vector<sql::ExprPtr> keys;
   if (bound.root && !bound.hasRules()) takeKeys(*bound.root, sources.size(), keys);
   const std::vector<std::string> names(keys.size());
   sql::ColumnTable columns = bound.columns;
   auto code = keys.empty() ? nullptr : ValuesCode::compile(std::move(keys), names, columns, sources);
   std::shared_ptr<GenericPlan> plan = GenericPlan::make(core, std::move(bound));
   if (!plan) {
      needsPlanning_ = true;
      return nullptr;
   }
   plan->keep(meter.settle());
   setSources(query.variables, std::move(sources));
   keys_ = std::move(code);
   plans_.push_back(plan);
   return plan;
}

bool CompiledText::computeParameters(const ProgramQuery& query, std::vector<BoundParameter>& values) {
   for (const ParameterSource& source : sources_) {
      const TypedValue& value = query.variables->at(source);
      values.push_back({value.type, value.value});
   }
   if (!keys_) return true;
   try {
      std::vector<Value> keys = keys_->run(query.core, query.variables);
      for (size_t i = 0; i < keys.size(); ++i)
         values.push_back({keys_->columns()[i].second, std::move(keys[i])});
      return true;
   } catch (const SqlError&) { // the query itself finds it, if a row asks for the key
      query.core.checkInterrupts();
      return false;
   }
}

std::unique_ptr<QueryExecution> CompiledText::start(const ProgramQuery& query) {
   const ::Node& node = *statement().node;
   const std::shared_ptr<GenericPlan> plan = freePlan(query);
   std::vector<BoundParameter> values;
   if (plan && computeParameters(query, values)) {
      bool hasRules = false;
      auto execution = runUntilWritten(query.core, [&] {
         return plan->lock(query.core) ? plan->start(query.core, values)
                                       : planForValues(query.core, script_, node, query.parameters, hasRules);
      });
      if (!hasRules) return execution;
   }
   return startQuery(query.core, script_, node, query.parameters);
}

std::shared_ptr<CompiledText> CompiledTexts::get(uint32_t id, const std::string& text) {
   std::shared_ptr<CompiledText>& compiled = texts_[id];
   if (!compiled) compiled = std::make_shared<CompiledText>(text);
   return compiled;
}

} // namespace ouzel::engine
