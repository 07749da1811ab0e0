#include "sql/program/text_binder.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/known_null.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/state/program_compiler.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/program/value_chain.hpp"

namespace ouzel::sql::program {

namespace {

bool writesOrLocks(const ::SelectStmt& select) {
   if (select.intoClause || select.lockingClause) return true;
   if (select.withClause)
      for (const auto* cte : ListOf<::CommonTableExpr>(select.withClause->ctes))
         if (!isNode(cte->ctequery, T_SelectStmt)) return true;
   return false;
}

/// The expression of a column over no rows; null: a value in it would be computed twice.
ExprPtr composed(const Rel& rel, ExprPtr expr) {
   for (const Rel* at = &rel; at->kind == RelKind::Map; at = at->inputs[0].get())
      for (const ComputedColumn& computed : at->as<op::Map>().computed) {
         size_t uses = 0;
         forEachExpr(*expr, [&](const Expr& node) {
            uses += node.kind == ExprKind::Column && columnOf(node) == computed.column;
            uses += subqueryOf(node) ? 2 : 0;
            return true;
         });
         if (uses > 1 && nodeCount(*computed.expr) > 1) return nullptr;
         substituteColumns(expr, [&](ColumnId column) -> const Expr* {
            return column == computed.column ? computed.expr.get() : nullptr;
         });
      }
   return expr;
}

/// While it lives, names of the body may mean the program's variables.
class SeesVariables {
public:
   SeesVariables(BindState& state, const VariableNames& variables)
      : state_(state), outer_(state.body), args_(std::exchange(state.inlineArgs, nullptr)),
        routine_(std::exchange(state.routine, nullptr)) {
      state.body = {&variables, state.openRoutines.size(), state.openViews.size(), state.openPolicies.size()};
   }
   ~SeesVariables() {
      state_.body = outer_;
      state_.inlineArgs = args_;
      state_.routine = routine_;
   }
   SeesVariables(const SeesVariables&) = delete;

private:
   BindState& state_;
   const BindState::BodyVariables outer_;
   const std::vector<ExprPtr>* const args_;
   const catalog::Function* const routine_;
};

/// Whether constants may decide that an expression which reads columns is a constant.
bool mayBecomeConstant(const Expr& expr) {
   bool found = false;
   forEachExpr(expr, [&](const Expr& node) {
      found = found || node.kind == ExprKind::Case || node.kind == ExprKind::Coalesce;
      return !found;
   });
   return found;
}

/// Errors in texts that the program might never come to.
bool isOfText(const SqlError& error) {
   const SqlState code = error.state();
   const std::string_view state = code.text();
   return state.starts_with("42") || state.starts_with("22") || state.starts_with("0A") || state.starts_with("3F");
}

} // namespace

bool isOnlyMaps(const Rel& rel) {
   return isUnit(rel) || (rel.kind == RelKind::Map && isOnlyMaps(*rel.inputs[0]));
}

bool isVolatileQuery(const Rel& rel) {
   bool found = callsVolatile(rel);
   forEachChild(rel, [&](const RelPtr& child) { found = found || isVolatileQuery(*child); });
   return found;
}

RelPtr firstRow(const BindState& state, RelPtr rel) {
   if (findsByKey(state, *rel)) return rel;
   const Rel* below = rel.get();
   while (below->kind == RelKind::Map)
      below = below->inputs[0].get();
   const auto* group = below->getIf<op::GroupBy>();
   if (isUnit(*below) || (group && group->keys.empty())) return rel;
   op::Limit limit;
   limit.limit = makeConstant(plainType(oid::int8), Value::integer(PhysicalType::I64, 1));
   return makeRel(RelKind::Limit, std::move(limit), std::move(rel));
}

TextBinder::TextBinder(BindState& state, const Program& program, std::string& why)
   : state_(state), program_(program), why_(why) {
   const VariableConflict kind = program.variableConflict.value_or(VariableConflict::Error);
   conflict = kind == VariableConflict::UseColumn     ? Conflict::UseColumn
              : kind == VariableConflict::UseVariable ? Conflict::UseVariable
                                                      : Conflict::Error;
}

void TextBinder::comeTo(uint32_t line, std::string_view phase) {
   origin_ = std::make_shared<Origin>();
   origin_->text = "PL/pgSQL function " + program_.signature;
   if (line > 0) origin_->text += " line " + std::to_string(line);
   if (!phase.empty()) origin_->text += " " + std::string(phase);
}

void TextBinder::giveOrigin(ExprPtr& value) const {
   if (!origin_) return;
   rewriteExpr(value, [&](ExprPtr& node) {
      if (!node->origin) {
         node->origin = origin_;
         return;
      }
      // It is of a program that is called here.
      Origin* at = node->origin.get();
      while (at != origin_.get() && at->outer)
         at = at->outer.get();
      if (at != origin_.get()) at->outer = origin_;
   });
}

void TextBinder::giveOriginToCast(ExprPtr& value) const {
   rewriteExpr(value, [&](ExprPtr& node) {
      if (!node->origin) node->origin = origin_;
   });
}

FoundName TextBinder::lookUp(std::span<const std::string> names) const {
   const auto part = [&](size_t i) { return i < names.size() ? std::string_view(names[i]) : std::string_view(); };
   return program_.names.find(scope_, part(0), part(1), part(2));
}

FoundVariable TextBinder::find(std::span<const std::string> names) const {
   const FoundName found = lookUp(names);
   if (!found.name) return {};
   const VariableId id = found.name->variable;
   auto* self = const_cast<TextBinder*>(this);
   if ((id == program_.found && !hasFound_) || program_.variables[id].kind != VariableKind::Scalar) {
      self->fail(id == program_.found ? usesFound : "it has a record");
      return {makeNull(plainType(oid::text)), static_cast<uint32_t>(names.size())};
   }
   return {self->read(id), found.parts};
}

ExprPtr TextBinder::positional(uint32_t number) const {
   if (number == 0 || number > program_.inputs.size()) return nullptr;
   return const_cast<TextBinder*>(this)->read(program_.inputs[number - 1]);
}

bool TextBinder::inBody(const std::function<bool()>& work) {
   const size_t relations = state_.relations.size();
   const AccessList access = state_.access;
   const bool callsMutable = state_.callsMutable, runsRoutines = state_.runsRoutines;
   bool isGood = false;
   try {
      const SeesVariables sees(state_, *this);
      isGood = work() && !failed();
   } catch (const SqlError& error) {
      if (!isOfText(error)) throw;
      fail("it has a statement with an error");
   }
   if (!isGood) { // as if nothing had been bound
      state_.relations.resize(relations);
      state_.access = access;
      state_.callsMutable = callsMutable;
      state_.runsRoutines = runsRoutines;
   }
   return isGood;
}

bool TextBinder::isPlain(VariableId id) {
   const Variable& variable = program_.variables[id];
   if (variable.kind != VariableKind::Scalar || variable.cursor)
      fail("it has a record or a cursor");
   else if (variable.isNotNull)
      fail("it has a variable that is NOT NULL");
   return !failed();
}

BoundRel TextBinder::bind(const SqlText& text) {
   const auto script = ParsedScript::parse(text.form == SqlForm::Expression ? "SELECT " + text.text : text.text);
   const auto& statements = script.statements();
   if (statements.size() != 1 || !isNode(statements[0].node, T_SelectStmt) ||
       writesOrLocks(*as<::SelectStmt>(statements[0].node))) {
      fail("it has a statement that is no query");
      return {};
   }
   scope_ = text.scope;
   hasReadKnown_ = false;
   const auto& select = *as<::SelectStmt>(statements[0].node);
   BoundRel query = bindSelect(state_, select, nullptr);
   makeRowsValues(state_, 0, query);
   refuseFailing(query);
   if (hasReadKnown_ && !select.fromClause) { // a value that is known rules out branches which fail all the same
      knowsValues_ = false;
      BoundRel unknown = bindSelect(state_, select, nullptr);
      makeRowsValues(state_, 0, unknown);
      refuseFailing(unknown);
      knowsValues_ = true;
   }
   return query;
}

void TextBinder::refuseFailing(BoundRel& query) {
   if (!failed() && state_.context.programs->failsWhenPlanned(state_, query)) fail("it has a constant that fails");
}

ExprPtr TextBinder::casted(ExprPtr value, const SqlType& type) {
   ExprPtr cast = tryCoerce(state_, value, type, CoercionContext::Assignment);
   if (!cast) cast = tryCoerce(state_, value, type, CoercionContext::Explicit);
   if (cast) return checked(std::move(cast));
   value = coerce(state_, std::move(value), oid::text, -1, CoercionContext::Explicit);
   cast = tryCoerce(state_, value, type, CoercionContext::Explicit);
   if (!cast) fail("a value has no cast to the type of its variable");
   return cast ? checked(std::move(cast)) : nullptr;
}

ExprPtr TextBinder::checked(ExprPtr cast) {
   std::vector<ColumnId> read;
   collectColumns(*cast, read);
   if (!mayFail(*cast) || (!read.empty() && !mayBecomeConstant(*cast))) return cast;
   BoundRel query;
   const SqlType type = cast->type;
   const ColumnId column = state_.addColumn(noLevel, "value", type);
   std::vector<ComputedColumn> computed;
   computed.push_back({column, clone(*cast)});
   query.rel = makeMap(oneRow(), std::move(computed));
   query.output.push_back({"value", column, type});
   refuseFailing(query);
   return cast;
}

ExprPtr TextBinder::valueOf(BoundRel& query, size_t column, bool isFirst) {
   const OutputColumn& output = query.output[column];
   ExprPtr value = makeColumn(output.column, output.type);
   if (isOnlyMaps(*query.rel)) {
      value = composed(*query.rel, std::move(value));
      if (!value) fail("a part of an expression would be computed twice");
      return value;
   }
   RelPtr rel = std::move(query.rel);
   if (isFirst) rel = firstRow(state_, std::move(rel));
   return makeSubquery(SubqueryKind::Scalar, output.type, std::move(rel), {output.column});
}

ExprPtr TextBinder::evaluate(const SqlText& text, const SqlType* type) {
   BoundRel query = bind(text);
   if (failed()) return nullptr;
   if (query.output.size() != 1) fail("an expression gives more than one column");
   ExprPtr value = failed() ? nullptr : valueOf(query, 0, false);
   if (value && isVolatile(*value)) fail("it calls a volatile function");
   if (value) foldKnownNulls(value); // literals: variables are columns
   if (failed()) return nullptr;
   if (type) value = casted(std::move(value), *type);
   if (value) giveOrigin(value);
   return value;
}

} // namespace ouzel::sql::program
