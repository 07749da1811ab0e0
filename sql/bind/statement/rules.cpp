#include "sql/bind/statement/rules.hpp"

#include <algorithm>
#include <deque>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/insert.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/rule.hpp"
#include "sql/bind/statement/statement.hpp"
#include "sql/bind/type/coercion.hpp"

// Rules: an INSERT, UPDATE or DELETE becomes the commands of the rules of its target, and what they leave of itself.
// Each command is bound over the rows for which the statement runs, which show OLD and NEW.

namespace ouzel::sql {

using catalog::Rule;
using catalog::RuleEvent;

namespace {

RuleEvent eventOf(const ::Node& statement) {
   switch (statement.type) {
   case T_InsertStmt: return RuleEvent::Insert;
   case T_UpdateStmt: return RuleEvent::Update;
   default: return RuleEvent::Delete;
   }
}

const char* wordOf(RuleEvent event) {
   return event == RuleEvent::Insert ? "INSERT" : event == RuleEvent::Update ? "UPDATE" : "DELETE";
}

template <typename Visit>
decltype(auto) withParts(const ::Node& statement, Visit&& visit) {
   switch (statement.type) {
   case T_InsertStmt: return visit(*as<InsertStmt>(&statement));
   case T_UpdateStmt: return visit(*as<UpdateStmt>(&statement));
   default: return visit(*as<DeleteStmt>(&statement));
   }
}

const ::RangeVar& targetOf(const ::Node& statement) {
   return withParts(statement, [](const auto& one) -> const ::RangeVar& { return *one.relation; });
}

const ::List* returningOf(const ::Node& statement) {
   return withParts(statement, [](const auto& one) { return one.returningList; });
}

/// The commands of rules bind the statement's WITH again, each for itself.
void refuseWritingCtes(const ::Node& statement) {
   const auto* with = withParts(statement, [](const auto& one) { return one.withClause; });
   if (with == nullptr) return;
   for (const auto* cte : ListOf<CommonTableExpr>(with->ctes))
      if (!isNode(cte->ctequery, T_SelectStmt))
         throwNotSupported("a data-modifying statement in WITH of one that rules rewrite");
}

/// A statement that is rewritten: the user's, or the command of a rule.
struct Origin {
   const ::Node* statement;
   catalog::RelationPtr target;
   const Origin* outer = nullptr; ///< the statement whose target has the rule; null: this is the user's statement
   const Rule* rule = nullptr;    ///< of which it is a command
   const SourceText* source = nullptr;
   bool returns = false; ///< the user's RETURNING reads what the statement returns
   bool isRoot() const { return outer == nullptr; }
};

/// Why a product is run, as PostgreSQL's QuerySource.
enum class Why : uint8_t { Original, Also, Instead };

struct Product {
   BoundQuery query;
   Why why;
};

class Rewriter {
public:
   explicit Rewriter(const BindContext& context) : context_(context) {}

   BoundQuery rewrite(const ::Node& statement, const catalog::RelationPtr& target);

private:
   void fire(const Origin& origin, Why why);
   void fireRule(const Origin& origin, const Rule& rule);
   BoundQuery bind(const Origin& origin, const std::vector<const Rule*>& excluding);
   void bindRows(BindState& state, const Origin& origin, const Rule& rule, RuleBinding& result);

   const BindContext& context_;
   std::deque<ParsedScript> scripts_;
   std::vector<std::pair<Oid, RuleEvent>> open_;
   std::vector<Product> products_;
};

/// While it lives, names are looked up and used as for the owner of the relation whose rule is bound.
class AsRule {
public:
   AsRule(BindState& state, const Origin& origin)
      : state_(state), source_(std::exchange(state.source, origin.source)), role_(state.access.role) {
      if (origin.isRoot()) {
         state.access.role = invalidOid;
      } else {
         state.access.role = origin.outer->target->owner;
         state.openViews.push_back(invalidOid); // the rule's names were allowed when it was made
      }
      isRule_ = !origin.isRoot();
   }
   ~AsRule() {
      if (isRule_) state_.openViews.pop_back();
      state_.access.role = role_;
      state_.source = source_;
   }
   AsRule(const AsRule&) = delete;

private:
   BindState& state_;
   const SourceText* const source_;
   const Oid role_;
   bool isRule_ = false;
};

struct BoundRows {
   RelPtr rel;
   std::vector<GetColumn> before, after; ///< the columns of the old and of the new row; empty: there is none
};

/// The rows for which the rules of the statement's target run. `rule`: of the statement, if it is a command of a rule.
BoundRows bindRows(BindState& state, const ::Node& statement, const catalog::RelationPtr& target, RuleBinding* rule) {
   Scope scope(nullptr);
   BoundRows result;
   refuseWritingCtes(statement);
   declareCtes(state, scope, withParts(statement, [](const auto& one) { return one.withClause; }));
   const RuleEvent event = eventOf(statement);
   targetTable(state, targetOf(statement),
               event == RuleEvent::Insert   ? "INSERT into"
               : event == RuleEvent::Update ? "UPDATE of"
                                            : "DELETE from");
   if (event == RuleEvent::Insert)
      result.rel = bindInsertedRows(state, scope, *as<InsertStmt>(&statement), target, rule, result.after);
   else
      result.rel = bindUpdatedRows(state, scope, statement, target, rule, result.before, result.after);
   result.rel = placeCtes(scope, std::move(result.rel));
   return result;
}

/// The rows of a statement for a rule of its target: those that satisfy the rule's condition.
void Rewriter::bindRows(BindState& state, const Origin& origin, const Rule& rule, RuleBinding& result) {
   const DepthGuard guard(state);
   const AsRule names(state, origin);
   RuleBinding outer;
   if (!origin.isRoot()) bindRows(state, *origin.outer, *origin.rule, outer);
   BoundRows rows = ::ouzel::sql::bindRows(state, *origin.statement, origin.target, origin.isRoot() ? nullptr : &outer);
   result.oldRow = ruleRow("old", *origin.target, rows.before);
   result.newRow = ruleRow("new", *origin.target, rows.after);
   const Oid role = std::exchange(state.access.role, origin.target->owner);
   result.rows = makeSelect(std::move(rows.rel), bindRuleCondition(state, rule, result.oldRow, result.newRow));
   state.access.role = role;
   result.isCommand = true;
}

BoundQuery Rewriter::bind(const Origin& origin, const std::vector<const Rule*>& excluding) {
   BindState state(context_);
   declareParameters(state);
   RuleBinding binding;
   if (!origin.isRoot()) bindRows(state, *origin.outer, *origin.rule, binding);
   binding.excluding = excluding;
   if (!origin.isRoot() && origin.returns) {
      if (!origin.outer->isRoot()) throwNotSupported("RETURNING through several rules");
      binding.returning = returningOf(*origin.outer->statement);
      binding.returningOf = origin.outer->target;
      binding.returningAlias = targetOf(*origin.outer->statement).alias;
   }
   const AsRule names(state, origin);
   state.rule = &binding;
   return bindStatement(state, *origin.statement);
}

void Rewriter::fireRule(const Origin& origin, const Rule& rule) {
   for (const std::string& action : rule.actions) {
      scripts_.push_back(ParsedScript::parse(action));
      Origin command{scripts_.back().statements().at(0).node, nullptr, &origin, &rule};
      const ::RangeVar& name = targetOf(*command.statement);
      command.target = catalog::requireRelation(context_.catalog, BindState(context_).uncheckedPath(),
                                                qualifiedName(name, context_));
      command.returns =
          origin.returns && rule.isInstead && rule.condition.empty() && returningOf(*command.statement) != nullptr;
      fire(command, rule.isInstead ? Why::Instead : Why::Also);
   }
}

/// What INSTEAD rules take from a statement.
struct Replacement {
   bool isWhole = false;               ///< a rule without a condition replaces it
   bool returns = false;               ///< ... by a command with RETURNING
   std::vector<const Rule*> excluding; ///< rules with a condition, which replace it for some rows
};

Replacement replacementOf(const catalog::Relation& target, RuleEvent event) {
   Replacement result;
   for (const Rule& rule : target.rules) {
      if (!isEnabled(rule, event) || !rule.isInstead) continue;
      if (!rule.condition.empty()) {
         result.excluding.push_back(&rule);
         continue;
      }
      result.isWhole = true;
      for (const std::string& action : rule.actions)
         result.returns |= returningOf(*ParsedScript::parse(action).statements().at(0).node) != nullptr;
   }
   return result;
}

/// Throws for RETURNING of rows that no command returns, and for rows of a view that no rule without a condition takes.
void refuseHalf(const Origin& origin, RuleEvent event, const Replacement& replacement) {
   if (!replacement.isWhole && replacement.excluding.empty()) return;
   const std::string word = wordOf(event), name = "\"" + origin.target->name + "\"";
   if (origin.returns && !replacement.returns)
      throw SqlError(sqlstate::featureNotSupported, "cannot perform " + word + " RETURNING on relation " + name)
          .hint("You need an unconditional ON " + word + " DO INSTEAD rule with a RETURNING clause.");
   if (replacement.isWhole || origin.target->relationKind != catalog::RelationKind::View) return;
   const char* what = event == RuleEvent::Insert   ? "insert into"
                      : event == RuleEvent::Update ? "update"
                                                   : "delete from";
   const char* doing = event == RuleEvent::Insert   ? "inserting into"
                       : event == RuleEvent::Update ? "updating"
                                                    : "deleting from";
   throw SqlError(sqlstate::objectNotInPrerequisiteState, std::string("cannot ") + what + " view " + name)
       .detail("Views with conditional DO INSTEAD rules are not automatically updatable.")
       .hint(std::string("To enable ") + doing + " the view, provide an INSTEAD OF " + word +
             " trigger or an unconditional ON " + word + " DO INSTEAD rule.");
}

/// Adds the products of a statement in the order in which they run.
void Rewriter::fire(const Origin& origin, Why why) {
   const RuleEvent event = eventOf(*origin.statement);
   const bool isInsert = event == RuleEvent::Insert;
   if (!hasRules(*origin.target, event)) {
      products_.push_back({bind(origin, {}), why});
      return;
   }
   if (std::find(open_.begin(), open_.end(), std::pair(origin.target->oid, event)) != open_.end())
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "infinite recursion detected in rules for relation \"" + origin.target->name + "\"");
   const Replacement replacement = replacementOf(*origin.target, event);
   refuseHalf(origin, event, replacement);
   open_.emplace_back(origin.target->oid, event);
   const auto itself = [&] {
      if (!replacement.isWhole) products_.push_back({bind(origin, replacement.excluding), why});
   };
   if (isInsert) itself();
   for (const Rule& rule : origin.target->rules)
      if (isEnabled(rule, event)) fireRule(origin, rule);
   if (!isInsert) itself();
   open_.pop_back();
}

BoundQuery Rewriter::rewrite(const ::Node& statement, const catalog::RelationPtr& target) {
   fire({&statement, target, nullptr, nullptr, context_.source, returningOf(statement) != nullptr}, Why::Original);
   const StatementKind kind = isNode(&statement, T_InsertStmt)   ? StatementKind::Insert
                              : isNode(&statement, T_UpdateStmt) ? StatementKind::Update
                                                                 : StatementKind::Delete;
   // The client hears of the statement itself, else of the last INSTEAD command of its kind.
   auto main = std::find_if(products_.begin(), products_.end(),
                            [](const Product& product) { return product.why == Why::Original; });
   if (main == products_.end())
      for (auto product = products_.begin(); product != products_.end(); ++product)
         if (product->why == Why::Instead && product->query.kind == kind) main = product;
   BoundQuery result;
   const bool isFound = main != products_.end();
   if (isFound) {
      result = std::move(main->query);
   } else {
      result.kind = kind;
      result.isReplaced = true;
      result.root = makeRel(RelKind::Values, op::Values{});
      result.written.push_back({target->oid, false, {}});
      result.readOnly = false;
   }
   for (auto product = products_.begin(); product != products_.end(); ++product) {
      if (product == main) continue;
      BoundQuery& query = product->query;
      result.relations.insert(result.relations.end(), query.relations.begin(), query.relations.end());
      for (const WrittenRelation& written : query.written)
         if (!result.writes(written.relation)) result.written.push_back({written.relation, false, {}});
      result.access.insert(result.access.end(), query.access.begin(), query.access.end());
      if (query.parameters.size() > result.parameters.size()) result.parameters = query.parameters;
      result.readOnly = result.readOnly && query.readOnly;
      (isFound && product < main ? result.before : result.after).push_back(std::move(query));
   }
   // A statement that is replaced takes its own parameters all the same.
   const bool isReplaced = !isFound || main->why != Why::Original;
   if (isReplaced && target->relationKind != catalog::RelationKind::View) {
      const BoundQuery own = bind({&statement, target, nullptr, nullptr, context_.source}, {});
      if (own.parameters.size() > result.parameters.size()) result.parameters = own.parameters;
   }
   result.relations.push_back(target->oid);
   return result;
}

} // namespace

catalog::RelationPtr ruledTarget(const ::Node& statement, const BindContext& context) {
   if (!isNode(&statement, T_InsertStmt) && !isNode(&statement, T_UpdateStmt) && !isNode(&statement, T_DeleteStmt))
      return nullptr;
   const auto target =
       catalog::findRelation(context.catalog, context.searchPath, qualifiedName(targetOf(statement), context));
   if (!target || target->rules.empty()) return nullptr;
   if (isNode(&statement, T_InsertStmt) && as<InsertStmt>(&statement)->onConflictClause &&
       (hasRules(*target, RuleEvent::Insert) || hasRules(*target, RuleEvent::Update)))
      throw SqlError(sqlstate::featureNotSupported,
                     "INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules");
   return hasRules(*target, eventOf(statement)) ? target : nullptr;
}

BoundQuery bindByRules(const ::Node& statement, const catalog::RelationPtr& target, const BindContext& context) {
   return Rewriter(context).rewrite(statement, target);
}

void checkRule(const catalog::Relation& table, RuleEvent event, const ::Node* condition,
               const std::vector<const ::Node*>& actions, const BindContext& context) {
   const auto rowsOf = [&](BindState& state, const char* name, bool exists) {
      std::vector<GetColumn> row;
      for (const catalog::Column& column : table.columns)
         if (!column.isDropped && exists)
            row.push_back({state.addColumn(0, column.name, column.type), column.attribute});
      return ruleRow(name, table, row);
   };
   const auto binding = [&](BindState& state) {
      RuleBinding rule;
      rule.isCommand = true;
      rule.oldRow = rowsOf(state, "old", true);
      rule.newRow = rowsOf(state, "new", event != RuleEvent::Select);
      op::Values values;
      for (const NamespaceItem* item : {&rule.oldRow, &rule.newRow})
         for (const ScopeColumn& column : item->columns)
            values.columns.push_back(column.column);
      rule.rows = makeRel(RelKind::Values, std::move(values));
      return rule;
   };
   if (condition) {
      BindState state(context);
      RuleBinding rule = binding(state);
      Scope scope(nullptr);
      rule.oldRow.hasVisibleColumns = event != RuleEvent::Insert;
      rule.newRow.hasVisibleColumns = event != RuleEvent::Delete;
      showRuleRows(state, scope, rule);
      coerceToBoolean(state, bindExpr(state, scope, condition, Clause::Where), "WHERE");
   }
   for (const ::Node* action : actions) {
      BindState state(context);
      RuleBinding rule = binding(state);
      const ::RangeVar& name = targetOf(*action);
      const auto target = catalog::requireRelation(context.catalog, context.searchPath, qualifiedName(name, context));
      if (target->relationKind == catalog::RelationKind::View) { // rules may make it writable
         bindRows(state, *action, target, &rule);
         continue;
      }
      const ::List* returning = returningOf(*action);
      state.rule = &rule;
      if (returning) {
         rule.returning = returning;
         rule.isCommand = false; // so that its own list is bound
      }
      const BoundQuery bound = bindStatement(state, *action);
      if (!returning) continue;
      size_t i = 0;
      for (const catalog::Column& column : table.columns) {
         if (column.isDropped) continue;
         if (i >= bound.output.size())
            throw SqlError(sqlstate::invalidObjectDefinition, "RETURNING list has too few entries");
         if (bound.output[i++].type.named() != column.type.named())
            throw SqlError(sqlstate::invalidObjectDefinition, "RETURNING list's entry " + std::to_string(i) +
                                                                  " has different type from column \"" + column.name +
                                                                  "\"")
                .detail("RETURNING list entry has type " + typeName(bound.output[i - 1].type) +
                        ", but column has type " + typeName(column.type) + ".");
      }
      if (i < bound.output.size())
         throw SqlError(sqlstate::invalidObjectDefinition, "RETURNING list has too many entries");
   }
}

} // namespace ouzel::sql
