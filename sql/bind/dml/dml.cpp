#include "sql/bind/dml/dml.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/algebra/row_keys.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/dml/insert.hpp"
#include "sql/bind/dml/merge.hpp"
#include "sql/bind/dml/rule_binding.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/query/stored_row.hpp"
#include "sql/bind/query/target_list.hpp"
#include "sql/bind/type/coercion.hpp"

// Common parts of INSERT, UPDATE, DELETE and MERGE: target table, defaults, constraints, RETURNING.

namespace ouzel::sql {

using catalog::RelationKind;

namespace {

std::string pluralOf(RelationKind kind) {
   switch (kind) {
   case RelationKind::View: return "views";
   case RelationKind::MaterializedView: return "materialized views";
   case RelationKind::Sequence: return "sequences";
   case RelationKind::Index: return "indexes";
   case RelationKind::Composite: return "composite types";
   default: return "tables";
   }
}

/// Of a statement on the whole; MERGE needs what its clauses need.
uint32_t privilegeOf(std::string_view verb) {
   if (verb == "INSERT into") return catalog::privilege::insert;
   if (verb == "UPDATE of") return catalog::privilege::update;
   return verb == "DELETE from" ? catalog::privilege::del : 0;
}

} // namespace

catalog::RelationPtr targetTable(BindState& state, const ::RangeVar& name, const char* verb) {
   const uint32_t position = state.at(name.location);
   catalog::QualifiedName qualified{std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
                                    std::string(textOf(name.relname)), position};
   if (state.context.transitions && qualified.schema.empty())
      for (const catalog::RelationPtr& transition : *state.context.transitions)
         if (transition->name == qualified.name)
            throw SqlError(sqlstate::featureNotSupported,
                           "relation \"" + qualified.name + "\" cannot be the target of a modifying statement")
                .at(position);
   auto relation = catalog::requireRelation(state.context.catalog, state.path(), qualified);
   const std::string quoted = "\"" + relation->name + "\"";
   if (std::string_view(verb) == "MERGE" && relation->relationKind != RelationKind::Table &&
       relation->relationKind != RelationKind::Virtual)
      throw SqlError(sqlstate::featureNotSupported, "cannot execute MERGE on relation " + quoted)
          .detail("This operation is not supported for " + pluralOf(relation->relationKind) + ".");
   if (std::string_view(verb) == "MERGE" && relation->foreign)
      throw SqlError(sqlstate::featureNotSupported, "cannot execute MERGE on relation " + quoted)
          .detail("This operation is not supported for foreign tables.");
   if (std::string_view(verb) == "MERGE" && !relation->rules.empty())
      throw SqlError(sqlstate::featureNotSupported, "cannot execute MERGE on relation " + quoted)
          .detail("MERGE is not supported for relations with rules.");
   switch (relation->relationKind) {
   case RelationKind::Table: break;
   case RelationKind::View: break;
   case RelationKind::MaterializedView:
      throw SqlError(sqlstate::wrongObjectType, "cannot change materialized view " + quoted);
   case RelationKind::Sequence: throw SqlError(sqlstate::wrongObjectType, "cannot change sequence " + quoted);
   case RelationKind::Domain: // no name of a relation finds one that is only a type
   case RelationKind::Enum:
   case RelationKind::Range:
   case RelationKind::Multirange:
   case RelationKind::Shell:
   case RelationKind::Index:
   case RelationKind::Composite:
      throw SqlError(sqlstate::wrongObjectType, "cannot open relation " + quoted)
          .at(position)
          .detail("This operation is not supported for " + pluralOf(relation->relationKind) + ".");
   case RelationKind::Virtual:
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied: " + quoted + " is a system catalog");
   }
   state.relations.push_back(relation->oid);
   state.pinned.push_back(relation);
   state.access.of(relation->oid).privileges |= privilegeOf(verb);
   return relation;
}

std::unique_ptr<Dml> makeDml(const BindState& state, const catalog::Relation& table, const ::RangeVar* name) {
   auto dml = std::make_unique<Dml>();
   const auto schema = state.context.catalog.schema(table.schema);
   dml->table = {table.oid, static_cast<uint64_t>(table.storage), schema ? schema->name : std::string(), table.name,
                 name && name->alias ? name->alias->aliasname : table.name};
   setWrapper(state.context.catalog, table, dml->table.wrapper, dml->table.hasHandler);
   return dml;
}

FromItem bindTargetTable(BindState& state, Scope& scope, const ::RangeVar& name, const catalog::RelationPtr& table,
                         Dml& dml) {
   auto item = bindBaseTable(state, scope, table, name.alias, name.inh ? TableRows::Target : TableRows::Own);
   addRowIds(state, scope, item.rel->as<op::Get>(), item.items[0], dml);
   return item;
}

void addRowIds(BindState& state, Scope& scope, op::Get& get, const NamespaceItem& item, Dml& dml) {
   dml.rowId = state.addColumn(scope, "rowid", {oid::int8, -1, invalidOid});
   state.columns[dml.rowId].nullable = false;
   get.columns.push_back({dml.rowId, rowIdAttribute});
   dml.tableOid = item.tableOid;
   dml.table.parts = get.table.parts;
}

namespace {

/// The item of a part: its own names, with the columns of the whole table's row.
std::vector<GetColumn> rowOf(const TablePart& part, const std::vector<GetColumn>& target) {
   std::vector<GetColumn> own;
   for (const GetColumn& column : target)
      if (const int16_t attribute = part.attributeOf(column.attribute); attribute != 0)
         own.push_back({column.column, attribute});
   return own;
}

/// The constraints that a part has and the whole table has not.
void addPartChecks(BindState& state, const catalog::Relation& whole, const TableParts& parts, Dml& dml) {
   // What heirs do not inherit holds for the table's own rows, which are its first part's.
   for (size_t i = 0; parts.nodes.empty() && i < dml.checks.size();) {
      const catalog::Constraint* constraint = whole.findConstraint(dml.checks[i].constraint);
      if (!constraint || !constraint->noInherit || !dml.checks[i].policyError.empty()) {
         ++i;
         continue;
      }
      dml.partChecks.push_back({0, std::move(dml.checks[i])});
      dml.checks.erase(dml.checks.begin() + static_cast<ptrdiff_t>(i));
   }
   for (uint32_t i = 0; i < parts.parts.size(); ++i) {
      const TablePart& part = parts.parts[i];
      if (part.relation->oid == whole.oid) continue;
      catalog::Relation only = *part.relation;
      std::erase_if(only.constraints, [&](const catalog::Constraint& constraint) {
         if (constraint.kind != catalog::ConstraintKind::Check) return true;
         const catalog::Constraint* above =
             constraint.parentCount > 0 ? whole.findConstraint(constraint.name) : nullptr;
         return above && above->kind == catalog::ConstraintKind::Check && !above->noInherit;
      });
      bool hasOwn = !only.constraints.empty();
      for (const catalog::Column& column : whole.columns)
         if (const int16_t own = column.isDropped ? int16_t{0} : part.attributeOf(column.attribute);
             own != 0 && column.notNull)
            only.columns[static_cast<size_t>(own - 1)].notNull = false;
      hasOwn = hasOwn || std::any_of(only.columns.begin(), only.columns.end(),
                                     [](const catalog::Column& column) { return column.notNull && !column.isDropped; });
      if (!hasOwn) continue;
      for (Dml::Check& check : checksOf(state, only, rowOf(part, dml.target)))
         dml.partChecks.push_back({i, std::move(check)});
   }
}

/// Binds what the partition keys compute of the rows to write.
void addPartKeys(BindState& state, const catalog::Relation& table, Dml& dml) {
   const auto add = [&](const std::vector<KeyExpression>& expressions, int16_t number) {
      for (const KeyExpression& expression : expressions)
         dml.partKeys.push_back(
             {number++, bindOverTarget(state, table, dml.target, expression.text, Clause::PartitionKey)});
   };
   if (dml.table.parts) add(dml.table.parts->expressions, KeyExpression::firstNumber);
   if (dml.bounds) add(dml.bounds->expressions, KeyExpression::firstAbove);
}

} // namespace

void setParts(BindState& state, const catalog::RelationPtr& table, Dml& dml) {
   if (table->partitionKey && !dml.table.parts) {
      dml.table.parts = boundParts(state, table, false);
      noteParts(state, *dml.table.parts);
   }
   if (dml.table.parts) addPartChecks(state, *table, *dml.table.parts, dml);
   dml.bounds = boundsAbove(state.context.catalog, *table);
   if (!dml.target.empty()) addPartKeys(state, *table, dml);
   for (catalog::RelationPtr at = table; at && at->isPartition();) { // where another partition changes the bounds
      at = state.context.catalog.relation(at->parents[0]);
      if (at) state.relations.push_back(at->oid);
   }
}

Oid sequenceOfDefault(const Expr& expression) {
   constexpr Oid nextval = 1574; // pg_proc
   constexpr std::string_view conversions = "int8 int48 int2 int4";
   const Expr* expr = &expression;
   // Look through the assignment cast to the column's type.
   const auto isConversion = [&](const Expr& call) {
      const auto* function = functionOf(call);
      return function && call.args.size() == 1 && function->oid != nextval &&
             conversions.find(function->name) != std::string_view::npos;
   };
   while (expr->kind == ExprKind::Relabel || isConversion(*expr))
      expr = expr->args[0].get();
   if (!functionOf(*expr) || functionOf(*expr)->oid != nextval) return invalidOid;
   const Expr* argument = expr->args[0].get();
   while (argument->kind == ExprKind::Relabel)
      argument = argument->args[0].get();
   const Value* sequence = knownValue(*argument);
   return sequence ? static_cast<Oid>(sequence->i64) : invalidOid;
}

std::vector<Oid> relationsIn(const Expr& expression, const catalog::Snapshot& catalog) {
   std::vector<Oid> found;
   forEachExpr(expression, [&](const Expr& expr) {
      const Value* value = expr.type.oid == oid::regclass ? knownValue(expr) : nullptr;
      if (!value) return true;
      const Oid named = static_cast<Oid>(value->i64);
      const auto relation = catalog.relation(named);
      if (relation && !relation->isBuiltin() && std::find(found.begin(), found.end(), named) == found.end())
         found.push_back(named);
      return true;
   });
   return found;
}

namespace {

/// The default of a domain; NULL if there is none. What another domain lent it, it has itself.
ExprPtr defaultOfType(BindState& state, const SqlType& type) {
   const Oid domain = (type.domain & userArrayBit) != 0 ? invalidOid : type.domain;
   if (domain == invalidOid) return makeNull(type);
   const auto relation = state.context.catalog.relationOfType(domain);
   if (!relation) throwInternal("domain " + std::to_string(domain) + " does not exist");
   const catalog::Column& column = relation->columns[0];
   const bool hasDefault = column.hasDefault() || column.defaultSequence != invalidOid;
   auto value = hasDefault ? defaultOf(state, *relation, column) : makeNull(column.type);
   value->type.domain = invalidOid; // the checks of the inner domain do not make those of this one
   return intoDomain(std::move(value), type);
}

} // namespace

ExprPtr defaultOf(BindState& state, const catalog::Relation& table, const catalog::Column& column) {
   static_cast<void>(table);
   if (!column.hasDefault() && column.defaultSequence == invalidOid) return defaultOfType(state, column.type);
   // By OID, because the sequence may have a new name.
   const auto script = ParsedScript::parseExpression(
       column.defaultSequence == invalidOid
           ? column.defaultExpr
           : "pg_catalog.nextval('" + std::to_string(column.defaultSequence) + "'::pg_catalog.regclass)");
   const SourceText* outer = std::exchange(state.source, nullptr);
   ViewTextRecorder* recorder = std::exchange(state.recorder, nullptr); // the statement does not name this
   Scope scope(nullptr);
   auto expr = bindExpr(state, scope, script.expression(), Clause::Default);
   expr = coerceForAssignment(state, std::move(expr), column.type, column.name, Clause::Default);
   state.source = outer;
   state.recorder = recorder;
   return expr;
}

RelPtr fillTarget(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table,
                  const std::vector<GetColumn>& values) {
   std::vector<ComputedColumn> defaults;
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      const auto value = std::find_if(values.begin(), values.end(),
                                      [&](const GetColumn& given) { return given.attribute == column.attribute; });
      ColumnId source = value == values.end() ? noColumn : value->column;
      if (source == noColumn) {
         source = state.addColumn(scope, column.name, column.type);
         defaults.push_back({source, column.generated ? makeNull(column.type) : defaultOf(state, table, column)});
      }
      dml.target.push_back({source, column.attribute});
   }
   return makeMap(std::move(rel), std::move(defaults));
}

std::vector<Dml::Check> checksOf(BindState& state, const catalog::Relation& table,
                                 const std::vector<GetColumn>& target) {
   std::vector<Dml::Check> checks;
   for (const GetColumn& written : target) {
      const auto* column = table.column(written.attribute);
      if (!column || !column->notNull) continue;
      Dml::Check check;
      check.notNullAttribute = column->attribute;
      check.column = column->name;
      checks.push_back(std::move(check));
   }
   for (const catalog::Constraint& constraint : table.constraints) {
      if (constraint.kind != catalog::ConstraintKind::Check) continue;
      Dml::Check check;
      check.expr =
          coerceToBoolean(state, bindOverTarget(state, table, target, constraint.expression, Clause::Check), "CHECK");
      check.constraint = constraint.name;
      checks.push_back(std::move(check));
   }
   return checks;
}

RelPtr computeGenerated(BindState& state, Scope& scope, RelPtr rel, Dml& dml, const catalog::Relation& table) {
   std::vector<ComputedColumn> computed;
   for (GetColumn& target : dml.target) {
      const auto* column = table.column(target.attribute);
      if (!column || !column->generated) continue;
      auto value = bindOverTarget(state, table, dml.target, column->defaultExpr, Clause::Generated);
      value = coerceForAssignment(state, std::move(value), column->type, column->name, Clause::Generated);
      target.column = state.addColumn(scope, column->name, column->type);
      computed.push_back({target.column, std::move(value)});
   }
   return makeMap(std::move(rel), std::move(computed));
}

void showRow(NamespaceItem& item, const catalog::Relation& table, const std::vector<GetColumn>& columns) {
   for (ScopeColumn& shown : item.columns)
      for (const GetColumn& column : columns)
         if (shown.tableOid == table.oid && shown.attribute == column.attribute) shown.column = column.column;
}

namespace {

/// Calls `visit` for every column of an item, fields of row values included.
void forEachShown(std::vector<ScopeColumn>& columns, const std::function<void(ScopeColumn&)>& visit) {
   for (ScopeColumn& column : columns)
      if (column.column != noColumn) {
         visit(column);
      } else {
         forEachShown(column.fields, visit);
      }
}

} // namespace

namespace {

void noteWritten(BindState& state, RelKind kind, Oid relation, const std::vector<int16_t>& assigned) {
   auto written = std::find_if(state.written.begin(), state.written.end(),
                               [&](const WrittenRelation& other) { return other.relation == relation; });
   if (written == state.written.end()) written = state.written.insert(written, {relation, false, {}});
   if (kind == RelKind::Delete) return;
   const bool someOnly =
       kind == RelKind::Update && !assigned.empty() && (!written->makesRows || !written->assigned.empty());
   if (someOnly) {
      written->assigned.insert(written->assigned.end(), assigned.begin(), assigned.end());
   } else {
      written->assigned.clear();
   }
   written->makesRows = true;
}

/// Notes which tables the statement writes. A row that an UPDATE moves to another partition is new there.
void noteWritten(BindState& state, RelKind kind, const Dml& dml) {
   if (!dml.table.parts) return noteWritten(state, kind, dml.table.relation, dml.assigned);
   bool moves = false;
   for (const PartitionNode& node : dml.table.parts->nodes)
      for (const int16_t attribute : node.key)
         moves = moves || std::find(dml.assigned.begin(), dml.assigned.end(), attribute) != dml.assigned.end();
   for (const KeyExpression& expression : dml.table.parts->expressions)
      for (const int16_t attribute : expression.reads)
         moves = moves || std::find(dml.assigned.begin(), dml.assigned.end(), attribute) != dml.assigned.end();
   for (const TablePart& part : dml.table.parts->parts) {
      std::vector<int16_t> assigned;
      for (const int16_t attribute : dml.assigned)
         if (!moves) assigned.push_back(part.attributeOf(attribute));
      noteWritten(state, kind, part.relation->oid, assigned);
   }
   if (dml.table.parts->nodes.empty()) return;
   for (const PartitionNode& node : dml.table.parts->nodes) // they are locked as what is written
      if (std::none_of(state.written.begin(), state.written.end(),
                       [&](const WrittenRelation& other) { return other.relation == node.table->oid; }))
         state.written.push_back({node.table->oid, false, {}});
}

} // namespace

namespace {

/// What the user's RETURNING makes of the rows that the command of a rule returns.
void returnThroughRule(BindState& state, const RuleBinding& rule, BoundRel& result) {
   Scope scope(nullptr);
   NamespaceItem item;
   item.alias = rule.returningOf->name;
   item.relation = rule.returningOf.get();
   item.rowType = rule.returningOf->rowType;
   size_t next = 0;
   for (const catalog::Column& column : rule.returningOf->columns) {
      if (column.isDropped || next >= result.output.size()) continue;
      const OutputColumn& output = result.output[next++];
      item.columns.push_back({column.name, output.column, output.type, rule.returningOf->oid, column.attribute});
   }
   applyAlias(item, rule.returningAlias);
   scope.items.push_back(std::move(item));
   auto targets = bindTargetList(state, scope, rule.returning, Clause::Returning);
   for (Target& target : targets)
      target.expr = unknownToText(state, std::move(target.expr));
   result.output.clear();
   result.rel = placeTargets(state, scope, std::move(result.rel), targets);
   setOutput(state, result, targets);
}

/// The table and attribute that clients are told of a column in RETURNING. The values of new rows come from anywhere.
std::pair<Oid, int16_t> originOf(BindState& state, const NamespaceItem& item, const Dml& dml, ColumnId column) {
   if (item.isInserted)
      for (const GetColumn& target : dml.target)
         if (target.column == column) return {static_cast<Oid>(dml.table.relation), target.attribute};
   return {state.columns[column].tableOid, state.columns[column].attribute};
}

/// A copy of a column for RETURNING, and the original.
using Copies = std::vector<std::pair<ColumnId, ColumnId>>;

ColumnId copyColumn(BindState& state, const Scope& scope, ColumnId original, Copies& copies) {
   const ColumnId copy = state.addColumn(scope, state.columns[original].name, state.columns[original].type);
   state.columns[copy].nullable = state.columns[original].nullable;
   copies.emplace_back(copy, original);
   return copy;
}

/// System columns in RETURNING. DELETE has the ids of the rows of its target, the first item; where the new rows of
/// others will lie is not known yet.
void showSystemColumns(BindState& state, Scope& scope, RelKind kind, ColumnId rowId, Copies& copies) {
   for (size_t i = 0; i < scope.items.size(); ++i) {
      NamespaceItem& item = scope.items[i];
      const bool isDeleted = kind == RelKind::Delete && i == 0 && item.scan;
      item.rowId = isDeleted ? copyColumn(state, scope, rowId, copies) : noColumn;
      item.scan = nullptr;
      if (item.tableOid != noColumn) item.tableOid = copyColumn(state, scope, item.tableOid, copies);
      if (item.updatedId != noColumn) item.updatedId = copyColumn(state, scope, item.updatedId, copies);
   }
}

} // namespace

BoundRel finishDml(BindState& state, Scope& scope, RelKind kind, RelPtr rel, std::unique_ptr<Dml> dml,
                   const ::List* returning, const TargetPolicies& policies, const RuleBinding* rule) {
   if (rule && rule->isCommand && !rule->returning) returning = nullptr; // nobody reads it
   dml->isMain = scope.parent == nullptr;
   noteTriggers(state, scope, kind, *dml, policies.stored());
   noteWritten(state, kind, *dml);
   if (kind != RelKind::Delete) setKeptKeys(state.context.catalog, policies.stored(), *dml);
   BoundRel result;
   std::vector<ComputedColumn>& returned = dml->returning;
   result.rel = makeRel(kind, op::Write{std::move(dml)}, std::move(rel));
   Rel& write = *result.rel;
   if (returning) {
      // RETURNING is bound over copies of the columns. Without subqueries and row values, the DML operator computes
      // RETURNING itself from the original columns. Otherwise the operator gives the copies, and a Map above computes
      // RETURNING from them.
      Copies copies;
      for (NamespaceItem& item : scope.items)
         forEachShown(item.columns, [&](ScopeColumn& shown) {
            const ColumnId copy = state.addColumn(scope, shown.name, shown.type);
            const auto [table, attribute] = originOf(state, item, *write.as<op::Write>().dml, shown.column);
            state.columns[copy].tableOid = table;
            state.columns[copy].attribute = attribute;
            copies.emplace_back(copy, std::exchange(shown.column, copy));
         });
      showSystemColumns(state, scope, kind, write.as<op::Write>().dml->rowId, copies);
      auto targets = bindTargetList(state, scope, returning, Clause::Returning);
      bool isPlain = true;
      for (Target& target : targets) {
         target.expr = unknownToText(state, std::move(target.expr));
         forEachExpr(*target.expr, [&isPlain](const Expr& expr) {
            isPlain = isPlain && expr.kind != ExprKind::Row && expr.kind != ExprKind::Subquery;
            return isPlain;
         });
      }
      if (isPlain) {
         for (Target& target : targets) {
            OutputColumn output{target.name, state.addColumn(scope, target.name, target.expr->type), target.expr->type};
            if (const auto* reference = target.expr->getIf<scalar::Column>()) {
               output.tableOid = state.columns[reference->column].tableOid;
               output.attribute = state.columns[reference->column].attribute;
            }
            ExprPtr original;
            substituteColumns(target.expr, [&](ColumnId column) -> const Expr* {
               for (const auto& [copy, source] : copies)
                  if (copy == column) {
                     original = makeColumn(source, state.columns[source].type);
                     return original.get();
                  }
               return nullptr;
            });
            returned.push_back({output.column, std::move(target.expr)});
            result.output.push_back(std::move(output));
         }
      } else {
         std::vector<ColumnId> read;
         for (const Target& target : targets)
            collectColumns(*target.expr, read);
         for (const auto& [copy, source] : copies)
            if (std::find(read.begin(), read.end(), copy) != read.end())
               returned.push_back({copy, makeColumn(source, state.columns[source].type)});
         if (returned
                 .empty()) // of the table's columns it reads none: the operator still gives a row for each written one
            returned.push_back({state.addColumn(scope, "?column?", plainType(oid::boolean)),
                                makeConstant(plainType(oid::boolean), Value::boolean(true))});
      }
      if (!isPlain) {
         result.rel = placeTargets(state, scope, std::move(result.rel), targets);
         setOutput(state, result, targets);
      }
   }
   policies.apply(state, scope, write);
   result.rel = placeCtes(scope, std::move(result.rel));
   if (rule && rule->isCommand && rule->returning) returnThroughRule(state, *rule, result);
   return result;
}

BoundRel bindDml(BindState& state, const ::Node& statement, Scope* parent) {
   const DepthGuard guard(state);
   switch (statement.type) {
   case T_InsertStmt: return bindInsert(state, *as<InsertStmt>(&statement), parent);
   case T_UpdateStmt: return bindUpdate(state, *as<UpdateStmt>(&statement), parent);
   case T_DeleteStmt: return bindDelete(state, *as<DeleteStmt>(&statement), parent);
   case T_MergeStmt: return bindMerge(state, *as<MergeStmt>(&statement), parent);
   default: throwInternal("statement is not a query");
   }
}

ExprPtr clauseNumber(int number) {
   return makeConstant(clauseType, Value::integer(PhysicalType::I32, number));
}

} // namespace ouzel::sql
