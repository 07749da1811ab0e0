#include "sql/bind/dml/triggers.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/algebra/fired_triggers.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/rule_binding.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/stored_row.hpp"
#include "sql/bind/state/program_compiler.hpp"
#include "sql/bind/trigger.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Triggers of the target of a statement. A BEFORE ROW trigger is a step of the query that makes the rows: a call of
// ouzel_trigger() computes the row that goes on, or NULL. So the statement's generated columns, policies and conflicts
// see what triggers have made of a row, and the optimizer needs not know them. What later triggers need of the rows is
// computed by the operator that writes, see FiredTriggers.

namespace ouzel::sql {

using catalog::Trigger;
namespace bit = catalog::trigger_bit;

namespace {

bool haveCommon(std::span<const int16_t> a, std::span<const int16_t> b) {
   return std::any_of(a.begin(), a.end(), [&](int16_t one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

bool isFired(const BindState& state, const Trigger& trigger, uint32_t event, std::span<const int16_t> assigned) {
   if (!trigger.has(event) || trigger.enabled == 'D') return false;
   if (trigger.enabled != 'A' && (trigger.enabled == 'R') != state.context.isReplica) return false;
   return event != bit::update || trigger.columns.empty() || haveCommon(trigger.columns, assigned);
}

/// The attributes of the whole table as a part has them.
std::vector<int16_t> attributesIn(const TablePart& part, std::span<const int16_t> attributes) {
   std::vector<int16_t> own;
   for (const int16_t attribute : attributes)
      own.push_back(part.attributeOf(attribute));
   return own;
}

/// The trigger of the uppermost table that a trigger is a part of.
Oid rootOf(const BindState& state, const Trigger& trigger, const catalog::Relation& table) {
   const Trigger* at = &trigger;
   catalog::RelationPtr above;
   const catalog::Relation* owner = &table;
   while (at->parent != invalidOid && !owner->parents.empty()) {
      const auto next = state.context.catalog.relation(owner->parents[0]);
      const auto found = next ? std::find_if(next->triggers.begin(), next->triggers.end(),
                                             [&](const Trigger& other) { return other.oid == at->parent; })
                              : std::vector<Trigger>::const_iterator();
      if (!next || found == next->triggers.end()) break;
      at = &*found;
      above = next;
      owner = above.get();
   }
   return at->oid;
}

/// Calls `visit(table, trigger)` for each trigger of the table, or of its parts, that the event fires.
template <typename Visit>
void forEachFired(const BindState& state, const catalog::Relation& table, const TableParts* parts, uint32_t event,
                  std::span<const int16_t> assigned, const Visit& visit) {
   if (!parts) {
      for (const Trigger& trigger : table.triggers)
         if (isFired(state, trigger, event, assigned)) visit(table, trigger);
      return;
   }
   for (const TablePart& part : parts->parts) {
      if (part.relation->triggers.empty()) continue;
      const std::vector<int16_t> own = attributesIn(part, assigned);
      for (const Trigger& trigger : part.relation->triggers)
         if (isFired(state, trigger, event, own)) visit(*part.relation, trigger);
   }
}

bool isBeforeRow(const Trigger& trigger) {
   return trigger.has(bit::row) && (trigger.has(bit::before) || trigger.has(bit::insteadOf));
}

/// One trigger, or the triggers of parts that come from one of the whole table.
struct Step {
   std::string name;
   Oid trigger;
   std::string condition;
};

std::vector<Step> stepsOf(const BindState& state, const catalog::Relation& table, const TableParts* parts,
                          const RowOnItsWay& row) {
   std::vector<Step> steps;
   forEachFired(state, table, parts, row.event, row.assigned, [&](const catalog::Relation& owner, const Trigger& one) {
      if (!isBeforeRow(one)) return;
      if (owner.oid != table.oid && parts->nodes.empty() && owner.columns.size() > table.columns.size())
         throwNotSupported("a BEFORE trigger of a table that inherits and has columns of its own");
      const Oid root = rootOf(state, one, owner);
      if (std::none_of(steps.begin(), steps.end(), [&](const Step& step) { return step.trigger == root; }))
         steps.push_back({one.name, root, one.condition});
   });
   std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.name < b.name; });
   return steps;
}

/// A row as a record of the table's live columns; NULL if there is no row. `withGenerated`: else these are NULL.
ExprPtr recordOf(BindState& state, const catalog::Relation& table, const std::vector<GetColumn>* row,
                 bool withGenerated = true) {
   const SqlType record = plainType(oid::record);
   if (!row) return makeNull(record);
   auto value = makeTyped(ExprKind::Row, record);
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      const auto found = std::find_if(row->begin(), row->end(),
                                      [&](const GetColumn& one) { return one.attribute == column.attribute; });
      const bool isKnown = found != row->end() && (withGenerated || !column.generated);
      value->args.push_back(isKnown ? makeColumn(found->column, column.type) : makeNull(column.type));
   }
   return rowValue(state, std::move(value));
}

ExprPtr bindCondition(BindState& state, const catalog::Relation& table, const std::string& condition,
                      const std::vector<GetColumn>* before, const std::vector<GetColumn>* after) {
   static const std::vector<GetColumn> none;
   catalog::Rule rule;
   rule.condition = condition;
   return bindRuleCondition(state, rule, ruleRow("old", table, before ? *before : none),
                            ruleRow("new", table, after ? *after : none));
}

ExprPtr oidConstant(Oid value) {
   return makeConstant(plainType(oid::oid), Value::integer(PhysicalType::I64, value));
}

ExprPtr triggerCall(BindState& state, const catalog::Relation& table, Oid trigger, const RowOnItsWay& row) {
   state.runsRoutines = true;
   std::vector<ExprPtr> args;
   args.push_back(oidConstant(table.oid));
   args.push_back(row.part == noColumn ? oidConstant(table.oid) : makeColumn(row.part, plainType(oid::oid)));
   args.push_back(oidConstant(trigger));
   args.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, row.event)));
   args.push_back(recordOf(state, table, row.before));
   args.push_back(recordOf(state, table, row.after, false));
   return makeCall(catalog::builtins().functions("ouzel_trigger")[0], plainType(oid::record), std::move(args));
}

/// The partition of a new row.
ExprPtr partitionCall(BindState& state, const catalog::Relation& table, const TableParts& parts,
                      const std::vector<GetColumn>& row) {
   auto keys = makeTyped(ExprKind::Row, plainType(oid::record));
   for (const PartitionNode& node : parts.nodes)
      for (const int16_t attribute : node.key) {
         if (attribute >= KeyExpression::firstNumber) {
            const auto& key = parts.expressions[static_cast<size_t>(attribute - KeyExpression::firstNumber)];
            keys->args.push_back(bindOverTarget(state, table, row, key.text, Clause::PartitionKey));
            continue;
         }
         for (const GetColumn& column : row)
            if (column.attribute == attribute)
               keys->args.push_back(makeColumn(column.column, state.columns[column.column].type));
      }
   std::vector<ExprPtr> args;
   args.push_back(oidConstant(table.oid));
   args.push_back(rowValue(state, std::move(keys)));
   return makeCall(catalog::builtins().functions("ouzel_partition")[0], plainType(oid::oid), std::move(args));
}

ExprPtr fieldOf(ColumnId record, size_t number, const SqlType& type) {
   std::vector<ExprPtr> args;
   args.push_back(makeColumn(record, plainType(oid::record)));
   args.push_back(makeConstant(plainType(oid::int4), Value::integer(PhysicalType::I32, static_cast<int64_t>(number))));
   return makeCall(catalog::builtins().functions("ouzel_field")[0], type, std::move(args));
}

ExprPtr choice(ExprPtr condition, ExprPtr value, ExprPtr other) {
   auto result = makeTyped(ExprKind::Case, value->type);
   result->args.push_back(std::move(condition));
   result->args.push_back(std::move(value));
   result->args.push_back(std::move(other));
   return result;
}

/// For which rows the trigger fires; null: for all.
ExprPtr fires(BindState& state, const catalog::Relation& table, const Step& step, const RowOnItsWay& row) {
   std::vector<ExprPtr> all;
   if (row.clause != noColumn) {
      std::vector<ExprPtr> any;
      for (const int number : row.clauses)
         any.push_back(makeCompare(CompareOp::Eq, makeColumn(row.clause, clauseType), clauseNumber(number)));
      all.push_back(makeOr(std::move(any)));
   }
   if (row.only != noColumn) all.push_back(makeColumn(row.only, plainType(oid::boolean)));
   if (!step.condition.empty()) {
      const SqlType boolean = plainType(oid::boolean);
      auto holds = makeTyped(ExprKind::Case, boolean);
      holds->args.push_back(bindCondition(state, table, step.condition, row.before, row.after));
      holds->args.push_back(makeBoolean(true));
      holds->args.push_back(makeBoolean(false));
      all.push_back(std::move(holds));
   }
   return all.empty() ? nullptr : makeAnd(std::move(all));
}

RelPtr mapOne(RelPtr rel, ColumnId column, ExprPtr expr) {
   std::vector<ComputedColumn> computed;
   computed.push_back({column, std::move(expr)});
   return makeMap(std::move(rel), std::move(computed));
}

RelPtr fire(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table, const Step& step,
            const RowOnItsWay& row) {
   const SqlType record = plainType(oid::record), boolean = plainType(oid::boolean);
   ColumnId isFiring = noColumn;
   if (ExprPtr condition = fires(state, table, step, row)) {
      isFiring = state.addColumn(scope, "fires", boolean);
      rel = mapOne(std::move(rel), isFiring, std::move(condition));
   }
   if (state.context.programs && row.after && row.part == noColumn)
      for (const Trigger& trigger : table.triggers)
         if (trigger.oid == step.trigger && trigger.has(bit::before) &&
             state.context.programs->compileTrigger(state, scope, table, trigger, row, isFiring, rel))
            return rel;
   ExprPtr call = triggerCall(state, table, step.trigger, row);
   if (isFiring != noColumn) call = choice(makeColumn(isFiring, boolean), std::move(call), makeNull(record));
   const ColumnId made = state.addColumn(scope, step.name, record);
   rel = mapOne(std::move(rel), made, std::move(call));
   ExprPtr goesOn = makeTest(ExprKind::IsNotNull, makeColumn(made, record));
   if (isFiring != noColumn) {
      std::vector<ExprPtr> any;
      any.push_back(makeNot(makeColumn(isFiring, boolean)));
      any.push_back(std::move(goesOn));
      goesOn = makeOr(std::move(any));
   }
   rel = makeSelect(std::move(rel), std::move(goesOn));
   if (!row.after) return rel;
   std::vector<ComputedColumn> fields;
   size_t number = 0;
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      const size_t place = number++;
      const auto found = std::find_if(row.after->begin(), row.after->end(),
                                      [&](const GetColumn& one) { return one.attribute == column.attribute; });
      if (found == row.after->end() || column.generated) continue;
      ExprPtr field = fieldOf(made, place, column.type);
      if (isFiring != noColumn)
         field = choice(makeColumn(isFiring, boolean), std::move(field), makeColumn(found->column, column.type));
      found->column = state.addColumn(scope, column.name, column.type);
      state.columns[found->column].tableOid = table.oid;
      state.columns[found->column].attribute = column.attribute;
      fields.push_back({found->column, std::move(field)});
   }
   return makeMap(std::move(rel), std::move(fields));
}

/// The events that a statement may have.
uint32_t eventsOf(RelKind kind, const Dml& dml) {
   uint32_t events = kind == RelKind::Insert   ? bit::insert
                     : kind == RelKind::Update ? bit::update
                     : kind == RelKind::Delete ? bit::del
                                               : 0;
   if (dml.clause == noColumn) return events;
   for (const DmlAction action : dml.actions)
      events |= action == DmlAction::Insert   ? bit::insert
                : action == DmlAction::Update ? (dml.conflict == ConflictAction::Nothing ? 0 : bit::update)
                : action == DmlAction::Delete ? bit::del
                                              : 0;
   return events;
}

/// Puts together what triggers need of the rows.
class EventColumns {
public:
   EventColumns(BindState& state, const Scope& scope, Dml& dml) : state_(state), scope_(scope), dml_(dml) {}
   int32_t add(const char* name, ExprPtr expr) {
      const ColumnId column = state_.addColumn(scope_, name, expr->type);
      dml_.events.push_back({column, std::move(expr)});
      return static_cast<int32_t>(dml_.events.size()) - 1;
   }

private:
   BindState& state_;
   const Scope& scope_;
   Dml& dml_;
};

} // namespace

bool hasRowTriggers(const BindState& state, const catalog::Relation& table, const TableParts* parts, uint32_t event,
                    std::span<const int16_t> assigned) {
   bool has = false;
   forEachFired(state, table, parts, event, assigned,
                [&](const catalog::Relation&, const Trigger& trigger) { has = has || isBeforeRow(trigger); });
   return has;
}

bool hasInsteadTriggers(const BindState& state, const catalog::Relation& view, uint32_t event) {
   return std::any_of(view.triggers.begin(), view.triggers.end(), [&](const Trigger& trigger) {
      return trigger.has(bit::insteadOf) && isFired(state, trigger, event, {});
   });
}

RelPtr fireRowTriggers(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                       const TableParts* parts, const RowOnItsWay& row) {
   for (const Step& step : stepsOf(state, table, parts, row))
      rel = fire(state, scope, std::move(rel), table, step, row);
   return rel;
}

RelPtr fireForInsert(BindState& state, Scope& scope, RelPtr rel, const catalog::RelationPtr& table, Dml& dml) {
   const auto parts = table->partitionKey ? boundParts(state, table, false) : nullptr;
   if (!hasRowTriggers(state, *table, parts.get(), bit::insert, {})) return rel;
   RowOnItsWay row{bit::insert, nullptr, &dml.target};
   if (parts) {
      row.part = dml.seenPart = state.addColumn(scope, "part", plainType(oid::oid));
      rel = mapOne(std::move(rel), row.part, partitionCall(state, *table, *parts, dml.target));
      dml.seenBy = stepsOf(state, *table, parts.get(), row).back().name;
   }
   return fireRowTriggers(state, scope, std::move(rel), *table, parts.get(), row);
}

RelPtr fireForMoves(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                    const std::vector<GetColumn>& stored, Dml& dml) {
   const TableParts* parts = dml.table.parts.get();
   if (!parts || parts->nodes.empty()) return rel;
   const bool firesInsert = hasRowTriggers(state, table, parts, bit::insert, {});
   if (!firesInsert && !hasRowTriggers(state, table, parts, bit::del, {})) return rel;
   const SqlType oidType = plainType(oid::oid), boolean = plainType(oid::boolean);
   const ColumnId part = state.addColumn(scope, "part", oidType), moves = state.addColumn(scope, "moves", boolean);
   rel = mapOne(std::move(rel), part, partitionCall(state, table, *parts, dml.target));
   ExprPtr differs = makeCompare(CompareOp::Ne, makeColumn(part, oidType), makeColumn(dml.tableOid, oidType));
   rel = mapOne(std::move(rel), moves, choice(std::move(differs), makeBoolean(true), makeBoolean(false)));
   RowOnItsWay leaving{bit::del, &stored, nullptr, dml.tableOid};
   RowOnItsWay coming{bit::insert, nullptr, &dml.target, part};
   leaving.only = coming.only = moves;
   rel = fireRowTriggers(state, scope, std::move(rel), table, parts, leaving);
   if (!firesInsert) return rel;
   dml.seenPart = state.addColumn(scope, "part", oidType);
   rel = mapOne(std::move(rel), dml.seenPart,
                choice(makeColumn(moves, boolean), makeColumn(part, oidType), makeNull(oidType)));
   return fireRowTriggers(state, scope, std::move(rel), table, parts, coming);
}

void noteTriggers(BindState& state, const Scope& scope, RelKind kind, Dml& dml, const std::vector<GetColumn>& stored) {
   const auto table = state.context.catalog.relation(dml.table.relation);
   const TableParts* parts = dml.table.parts.get();
   const bool hasParts = parts && std::any_of(parts->parts.begin(), parts->parts.end(),
                                              [](const TablePart& part) { return !part.relation->triggers.empty(); });
   if (!table || (table->triggers.empty() && !hasParts)) return;
   const bool changesAny =
       (eventsOf(kind, dml) & bit::update) != 0 && hasRowTriggers(state, *table, parts, bit::update, dml.assigned);
   auto fired = std::make_shared<FiredTriggers>();
   fired->relation = table->oid;
   const uint32_t events = eventsOf(kind, dml);
   bool needsOld = false, needsNew = false;
   EventColumns columns(state, scope, dml);
   const bool makesRows = (events & (bit::insert | bit::update)) != 0;
   const std::vector<GetColumn>* before = stored.empty() ? nullptr : &stored;
   const std::vector<GetColumn>* after = makesRows && !dml.target.empty() ? &dml.target : nullptr;
   const bool mayMove = parts && !parts->nodes.empty() && (events & bit::update) != 0;
   for (const uint32_t event : {bit::insert, bit::update, bit::del}) {
      if ((events & event) == 0 && !mayMove) continue; // to another part a row moves by DELETE and INSERT
      for (const Trigger& trigger : table->triggers) {
         if ((events & event) == 0 || !isFired(state, trigger, event, dml.assigned)) continue;
         if (!trigger.has(bit::row))
            (trigger.has(bit::before) ? fired->before : fired->after).push_back({table->oid, trigger.oid, event});
         if (!trigger.hasTransitionTables()) continue;
         fired->keepsAllRows = true;
         needsOld = needsOld || !trigger.oldTable.empty();
         needsNew = needsNew || !trigger.newTable.empty();
      }
      forEachFired(state, *table, parts, event, dml.assigned, [&](const catalog::Relation& owner, const Trigger& one) {
         if (!one.has(bit::row) || !one.isAfter()) return;
         if (owner.oid != table->oid && parts->nodes.empty() && owner.columns.size() > table->columns.size())
            throwNotSupported("an AFTER trigger of a table that inherits and has columns of its own");
         needsOld = needsOld || event != bit::insert;
         needsNew = needsNew || event != bit::del;
         FiredTriggers::Call call{owner.oid, one.oid, event};
         if (!one.condition.empty())
            call.condition =
                columns.add("when", bindCondition(state, *table, one.condition, event == bit::insert ? nullptr : before,
                                                  event == bit::del ? nullptr : after));
         fired->rows.push_back(call);
      });
   }
   if (changesAny)
      for (const GetColumn& column : dml.target)
         if (std::find(dml.assigned.begin(), dml.assigned.end(), column.attribute) == dml.assigned.end())
            dml.assigned.push_back(column.attribute);
   if (fired->before.empty() && fired->after.empty() && fired->rows.empty()) return;
   // PostgreSQL fires what comes after in the opposite order of what comes before.
   const auto rank = [](uint32_t event) { return event == bit::del ? 0 : event == bit::update ? 1 : 2; };
   std::stable_sort(fired->after.begin(), fired->after.end(),
                    [&](const auto& a, const auto& b) { return rank(a.event) < rank(b.event); });
   if (needsOld && before) fired->oldRow = columns.add("old", recordOf(state, *table, before));
   if (needsNew && after) fired->newRow = columns.add("new", recordOf(state, *table, after));
   if (dml.events.empty() && (!fired->rows.empty() || fired->keepsAllRows))
      columns.add("row", makeBoolean(true)); // of a table without columns
   if (!dml.events.empty() && dml.tableOid != noColumn)
      fired->part = columns.add("part", makeColumn(dml.tableOid, plainType(oid::oid)));
   if (!dml.events.empty() && dml.clause != noColumn)
      fired->clause = columns.add("clause", makeColumn(dml.clause, clauseType));
   dml.triggers = std::move(fired);
   state.firesTriggers = true;
}

void checkTriggerCondition(const catalog::Relation& table, const Trigger& trigger, const ::Node& condition,
                           const BindContext& context) {
   BindState state(context);
   Scope scope(nullptr);
   for (const char* name : {"old", "new"}) {
      std::vector<GetColumn> row;
      for (const catalog::Column& column : table.columns)
         if (!column.isDropped) row.push_back({state.addColumn(scope, column.name, column.type), column.attribute});
      NamespaceItem item = ruleRow(name, table, row);
      item.hasVisibleColumns = true;
      scope.items.push_back(std::move(item));
   }
   const auto bound = coerceToBoolean(state, bindExpr(state, scope, &condition, Clause::TriggerWhen), "WHEN");
   const auto refuse = [](const char* message, uint32_t position, const std::string& detail = {}) {
      SqlError error(sqlstate::invalidObjectDefinition, message);
      if (!detail.empty()) error = std::move(error).detail(detail);
      throw std::move(error).at(position);
   };
   forEachExpr(*bound, [&](const Expr& expr) {
      const auto* read = expr.getIf<scalar::Column>();
      if (!read) return true;
      if (!trigger.has(bit::row))
         refuse("statement trigger's WHEN condition cannot reference column values", expr.position);
      const size_t place = [&] {
         for (size_t i = 0; i < scope.items.size(); ++i)
            for (const ScopeColumn& column : scope.items[i].columns)
               if (column.column == read->column) return i;
         return size_t{2};
      }();
      if (place == 0 && trigger.has(bit::insert))
         refuse("INSERT trigger's WHEN condition cannot reference OLD values", expr.position);
      if (place != 1) return true;
      if (trigger.has(bit::del)) refuse("DELETE trigger's WHEN condition cannot reference NEW values", expr.position);
      for (const ScopeColumn& column : scope.items[1].columns) {
         const auto* named = column.column == read->column ? table.column(column.attribute) : nullptr;
         if (named && named->generated && trigger.has(bit::before))
            refuse("BEFORE trigger's WHEN condition cannot reference NEW generated columns", expr.position,
                   "Column \"" + named->name + "\" is a generated column.");
      }
      return true;
   });
}

} // namespace ouzel::sql
