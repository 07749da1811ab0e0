#include "sql/bind/expression/names.hpp"

#include <algorithm>
#include <numeric>

#include "sql/algebra/build.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/state/routine_call.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Column references: finds the query level and the FROM item of a name, and makes errors with hints for a name that is
// not found.

namespace ouzel::sql {

namespace {

uint32_t editDistance(std::string_view a, std::string_view b) {
   std::vector<uint32_t> row(b.size() + 1);
   std::iota(row.begin(), row.end(), 0u);
   for (size_t i = 1; i <= a.size(); ++i) {
      uint32_t diagonal = row[0];
      row[0] = static_cast<uint32_t>(i);
      for (size_t j = 1; j <= b.size(); ++j) {
         const uint32_t substituted = diagonal + (a[i - 1] != b[j - 1]);
         diagonal = row[j];
         row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
      }
   }
   return row.back();
}

/// Columns to suggest for a mistyped name: the column with the least edit distance, or two with the same distance.
class ColumnGuess {
public:
   void offer(const RangeEntry& entry, const std::string& column, std::string_view wanted, uint32_t penalty) {
      uint32_t distance = editDistance(column, wanted);
      if (distance > wanted.size() / 2) return; // more than half of the letters differ
      distance += penalty;
      if (distance > distance_) return;
      if (distance < distance_) {
         distance_ = distance;
         first_ = {&entry, &column};
         second_ = {};
      } else if (second_.entry) { // three columns of one distance: suggest no column of this distance
         first_ = second_ = {};
         distance_ = distance - 1;
      } else if (first_.entry) {
         second_ = {&entry, &column};
      } else if (distance_ <= distanceMax) {
         first_ = {&entry, &column};
      }
   }
   std::string hint() const {
      if (!first_.entry) return {};
      std::string text = "Perhaps you meant to reference the column " + quoted(first_);
      if (second_.entry) text += " or the column " + quoted(second_);
      return text + ".";
   }

private:
   static constexpr uint32_t distanceMax = 3;
   struct Match {
      const RangeEntry* entry = nullptr;
      const std::string* column = nullptr;
   };
   static std::string quoted(const Match& match) { return "\"" + match.entry->alias + "." + *match.column + "\""; }

   uint32_t distance_ = distanceMax + 1;
   Match first_, second_;
};

bool isStar(const ::Node* node) {
   return isNode(node, T_A_Star);
}

void checkLateral(const NamespaceItem& item, uint32_t position) {
   if (item.lateralOnly && !item.lateralOk)
      throw SqlError(sqlstate::invalidColumnReference,
                     "invalid reference to FROM-clause entry for table \"" + item.alias + "\"")
          .at(position)
          .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
}

[[noreturn]] void throwMissingColumn(const Scope& scope, std::string_view relation, std::string_view name,
                                     uint32_t position) {
   std::string message = relation.empty()
                             ? "column \"" + std::string(name) + "\" does not exist"
                             : "column " + std::string(relation) + "." + std::string(name) + " does not exist";
   SqlError error = SqlError(sqlstate::undefinedColumn, message).at(position).routine("errorMissingColumn");
   ColumnGuess guess;
   for (const Scope* level = &scope; level; level = level->parent)
      for (const RangeEntry& entry : level->entries) {
         const uint32_t penalty = relation.empty() ? 0 : editDistance(relation, entry.alias);
         for (const std::string& column : entry.columns) {
            if (column == name && penalty == 0)
               throw std::move(error).hint("There is a column named \"" + std::string(name) + "\" in table \"" +
                                           entry.alias +
                                           "\", but it cannot be referenced from this part of the query.");
            guess.offer(entry, column, name, penalty);
         }
      }
   throw std::move(error).hint(guess.hint());
}

} // namespace

void throwMissingRelation(const Scope& scope, std::string_view, std::string_view name, uint32_t position) {
   for (const Scope* level = &scope; level; level = level->parent)
      for (const RangeEntry& entry : level->entries) {
         if (entry.relationName != name && entry.alias != name) continue;
         SqlError error(sqlstate::undefinedTable,
                        "invalid reference to FROM-clause entry for table \"" + std::string(name) + "\"");
         error.setPosition(position);
         const bool isVisible = std::any_of(level->items.begin(), level->items.end(), [&](const NamespaceItem& item) {
            return item.alias == entry.alias && item.hasVisibleName && (!item.lateralOnly || level->lateralActive);
         });
         if (entry.isAliased && entry.alias != name && isVisible)
            throw std::move(error).hint("Perhaps you meant to reference the table alias \"" + entry.alias + "\".");
         throw std::move(error).hint("There is an entry for table \"" + entry.alias +
                                     "\", but it cannot be referenced from this part of the query.");
      }
   throw SqlError(sqlstate::undefinedTable, "missing FROM-clause entry for table \"" + std::string(name) + "\"")
       .at(position);
}

bool isSystemColumn(std::string_view name) {
   static constexpr std::string_view names[] = {"ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"};
   return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

ColumnId rowIdOf(BindState& state, const Scope& level, NamespaceItem& item) {
   if (item.rowId != noColumn) return item.rowId;
   std::vector<GetColumn>& columns = item.scan->as<op::Get>().columns;
   for (const GetColumn& column : columns)
      if (column.attribute == rowIdAttribute) item.rowId = column.column;
   if (item.rowId == noColumn) {
      item.rowId = state.addColumn(level, "ctid", plainType(oid::int8));
      state.columns[item.rowId].nullable = false;
      columns.push_back({item.rowId, rowIdAttribute});
   }
   return item.rowId;
}

namespace {

/// ctid: the place of a row, computed from its id, which the table's scan gives from now on.
ExprPtr placeOfRow(BindState& state, const Scope& level, NamespaceItem& item, uint32_t position) {
   std::vector<ExprPtr> args;
   args.push_back(makeColumn(rowIdOf(state, level, item), plainType(oid::int8)));
   args.back()->position = position;
   static const catalog::FunctionInfo* const function = catalog::builtins().functions("ouzel_row_place")[0];
   auto expr = makeCall(function, plainType(oid::tid), std::move(args));
   expr->position = position;
   return expr;
}

/// xmax of the rows of INSERT ... RETURNING: the transaction where ON CONFLICT has updated a row, 0 for a new one.
ExprPtr deleterOfRow(const NamespaceItem& item, uint32_t position) {
   const SqlType xid = plainType(oid::xid);
   ExprPtr none = makeConstant(xid, Value::integer(PhysicalType::I64, 0));
   none->position = position;
   if (item.updatedId == noColumn) return none;
   std::vector<ExprPtr> current;
   current.push_back(makeCall(catalog::builtins().functions("pg_current_xact_id")[0], plainType(oid::xid8), {}));
   auto choice = makeTyped(ExprKind::Case, xid, position);
   choice->args.push_back(makeTest(ExprKind::IsNull, makeColumn(item.updatedId, plainType(oid::int8))));
   choice->args.push_back(std::move(none));
   choice->args.push_back(makeCall(catalog::builtins().functions("xid")[0], xid, std::move(current)));
   return choice;
}

/// xmin and xmax of a row of a system catalog, which is made anew for each query: as if a transaction that has just
/// ended had made it, so that whoever asks for what is new gets all.
ExprPtr makerOfCatalogRow(bool isMaker) {
   const SqlType xid = plainType(oid::xid);
   if (!isMaker) return makeConstant(xid, Value::integer(PhysicalType::I64, 0));
   ExprPtr value;
   for (const char* name : {"pg_current_snapshot", "pg_snapshot_xmin", "xid"}) {
      const catalog::FunctionInfo* function = catalog::builtins().functions(name)[0];
      std::vector<ExprPtr> args;
      if (value) args.push_back(std::move(value));
      value = makeCall(function, plainType(function->returnType), std::move(args));
   }
   return value;
}

/// Throws 42P10 where system columns may not stand.
void checkSystemColumn(const Scope& level, std::string_view name, uint32_t position) {
   const auto refuse = [&](const std::string& message) {
      throw SqlError(sqlstate::invalidColumnReference, message).at(position);
   };
   const std::string quoted = "system column \"" + std::string(name) + '"';
   if (level.clause == Clause::MergeWhen) refuse("cannot use " + quoted + " in MERGE WHEN condition");
   if (level.clause == Clause::Check) refuse(quoted + " reference in check constraint is invalid");
   if (level.clause == Clause::Generated) refuse("cannot use " + quoted + " in column generation expression");
}

/// ctid, tableoid, xmin, ...; null: the item has no such column. `level`: whose item it is.
ExprPtr systemColumn(BindState& state, const Scope& level, NamespaceItem& item, std::string_view name,
                     uint32_t position) {
   if (item.relation->relationKind == catalog::RelationKind::View) return nullptr;
   if (name == "tableoid" && item.tableOid != noColumn) {
      auto expr = makeColumn(item.tableOid, state.columns[item.tableOid].type);
      expr->position = position;
      return expr;
   }
   if (name == "tableoid") {
      if (item.relation->partitionKey) throwNotSupported("tableoid of a new row of a partitioned table", position);
      auto expr = makeConstant({oid::oid, -1, invalidOid}, Value::integer(PhysicalType::I64, item.relation->oid));
      expr->as<scalar::Constant>().value.type = expr->repr.physical;
      expr->position = position;
      return expr;
   }
   if (!isSystemColumn(name)) return nullptr;
   checkSystemColumn(level, name, position);
   if (name == "ctid" && (item.rowId != noColumn || item.scan)) return placeOfRow(state, level, item, position);
   if (name == "xmax" && item.isInserted) return deleterOfRow(item, position);
   if ((name == "xmin" || name == "xmax") && item.relation->oid < firstUserOid)
      return makerOfCatalogRow(name == "xmin");
   throwNotSupported("system column \"" + std::string(name) + "\"", position);
}

ExprPtr findColumnIn(BindState& state, const Scope& level, NamespaceItem& item, std::string_view name,
                     uint32_t position) {
   const ScopeColumn* found = nullptr;
   for (const ScopeColumn& column : item.columns) {
      if (column.name != name) continue;
      if (found)
         throw SqlError(sqlstate::ambiguousColumn, "column reference \"" + std::string(name) + "\" is ambiguous")
             .at(position);
      found = &column;
   }
   if (found) {
      state.readColumn(*found);
      return referTo(*found, position);
   }
   return item.relation ? systemColumn(state, level, item, name, position) : nullptr;
}

} // namespace

ExprPtr findColumn(BindState& state, Scope& scope, std::string_view name, uint32_t position, bool localOnly) {
   for (Scope* level = &scope; level; level = level->parent) {
      ExprPtr found;
      for (NamespaceItem& item : level->items) {
         if (!item.hasVisibleColumns || (item.lateralOnly && !level->lateralActive)) continue;
         auto here = findColumnIn(state, *level, item, name, position);
         if (!here) continue;
         if (found)
            throw SqlError(sqlstate::ambiguousColumn, "column reference \"" + std::string(name) + "\" is ambiguous")
                .at(position);
         checkLateral(item, position);
         found = std::move(here);
      }
      if (found || localOnly) return found;
   }
   return nullptr;
}

NamespaceItem* findItem(BindState& state, Scope& scope, std::string_view schema, std::string_view name,
                        uint32_t position, Scope** owner) {
   const bool isQualified = !schema.empty();
   Oid wanted = invalidOid; // invalidOid: a table that is being created has no OID yet
   catalog::SchemaPtr schemaOf;
   if (isQualified) {
      const catalog::QualifiedName qualified{{}, std::string(schema), std::string(name), position};
      const auto relation = catalog::findRelation(state.context.catalog, state.path(), qualified);
      if (relation) wanted = relation->oid;
      schemaOf = state.context.catalog.findSchema(schema);
      if (!relation && !schemaOf) return nullptr;
   }
   const auto isMeant = [&](const NamespaceItem& item) {
      if (!isQualified) return item.alias == name;
      if (!item.relation || item.isAliased) return false;
      return wanted ? item.relation->oid == wanted
                    : item.relation->oid == invalidOid && item.relation->schema == schemaOf->oid && item.alias == name;
   };
   for (Scope* level = &scope; level; level = level->parent) {
      NamespaceItem* found = nullptr;
      for (NamespaceItem& item : level->items) {
         if (!item.hasVisibleName || (item.lateralOnly && !level->lateralActive)) continue;
         if (!isMeant(item)) continue;
         if (found)
            throw SqlError(sqlstate::ambiguousAlias, "table reference \"" + std::string(name) + "\" is ambiguous")
                .at(position);
         checkLateral(item, position);
         found = &item;
      }
      if (found) {
         if (owner) *owner = level;
         return found;
      }
   }
   return nullptr;
}

namespace {

ExprPtr wholeRow(BindState& state, const NamespaceItem& item, uint32_t position) {
   if (item.isScalarFunction) return referTo(item.columns[0], position); // the function's name means its only column
   auto row = makeTyped(ExprKind::Row, {item.rowType ? item.rowType : Oid{oid::record}, -1, invalidOid}, position);
   for (const ScopeColumn& column : item.columns) {
      if (column.isHidden) continue;
      row->args.push_back(referTo(column, position));
      row->as<scalar::Row>().names.push_back(column.name);
      state.readColumn(column);
   }
   // On the nullable side of an outer join the whole row may be missing; the columns alone do not show that.
   row->as<scalar::Row>().isNullExtended = item.isNullExtended;
   return row;
}

} // namespace

namespace {

/// Whether the name finds a column, or a row, without the program's variables.
bool isOfQuery(BindState& state, Scope& scope, const std::vector<std::string>& names, uint32_t position) {
   if (names.size() == 1)
      return findColumn(state, scope, names[0], position) || findItem(state, scope, {}, names[0], 0);
   Scope* level = nullptr;
   const size_t last = names.size() - 1;
   return findItem(state, scope, last >= 2 ? std::string_view(names[last - 2]) : std::string_view(), names[last - 1],
                   position, &level) != nullptr;
}

/// The value of a variable of the program; null: the name is the query's. Throws 42702 if it may be both.
ExprPtr variableNamed(BindState& state, Scope& scope, const ::ColumnRef& ref) {
   std::vector<std::string> names;
   bool isWhole = false;
   for (const ::Node* field : ListOf<>(ref.fields)) {
      if (isNode(field, T_String))
         names.emplace_back(stringOf(field));
      else
         isWhole = true;
   }
   const uint32_t position = state.at(ref.location);
   const VariableNames& variables = *state.variables();
   if (variables.conflict == VariableNames::Conflict::UseColumn && isOfQuery(state, scope, names, position))
      return nullptr;
   FoundVariable found = variables.find(names);
   if (!found.value || (isWhole && found.parts != names.size())) return nullptr;
   if (variables.conflict == VariableNames::Conflict::Error && isOfQuery(state, scope, names, position)) {
      std::string name;
      for (const std::string& part : names)
         name += (name.empty() ? "" : ".") + part;
      throw SqlError(sqlstate::ambiguousColumn, "column reference \"" + name + "\" is ambiguous")
          .at(position)
          .detail("It could refer to either a PL/pgSQL variable or a table column.");
   }
   for (size_t i = found.parts; i < names.size(); ++i)
      found.value = selectField(state, std::move(found.value), names[i]);
   found.value->position = position;
   return std::move(found.value);
}

} // namespace

ExprPtr bindColumnRef(BindState& state, Scope& scope, const ::ColumnRef& ref) {
   const uint32_t position = state.at(ref.location);
   if (scope.clause == Clause::Default)
      throw SqlError(sqlstate::featureNotSupported, "cannot use column reference in DEFAULT expression").at(position);
   if (scope.clause == Clause::PartitionBound)
      throw SqlError(sqlstate::featureNotSupported, "cannot use column reference in partition bound expression")
          .at(position);
   const ListOf<> fields(ref.fields);
   if (state.recorder) state.recorder->enterReference(ref.location, fields.size());
   if (fields.size() > 4)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + joinNames(fields))
          .at(position);
   if (isStar(fields.back()) && fields.size() == 1)
      throw SqlError(sqlstate::syntaxError, "invalid use of \"*\"").at(position);
   if (state.variables())
      if (auto variable = variableNamed(state, scope, ref)) return variable;
   if (fields.size() == 1) {
      const auto name = stringOf(fields[0]);
      if (auto column = findColumn(state, scope, name, position)) return column;
      if (const auto* item = findItem(state, scope, {}, name, position)) {
         if (state.recorder) state.recorder->isRow(invalidOid);
         return wholeRow(state, *item, position);
      }
      if (auto parameter = parameterNamed(state, ref)) return parameter;
      throwMissingColumn(scope, {}, name, position);
   }
   const uint32_t last = fields.size() - 1;
   if (last == 3 && stringOf(fields[0]) != state.context.catalog.database(state.context.catalog.database())->name)
      throw SqlError(sqlstate::featureNotSupported,
                     "cross-database references are not implemented: " + joinNames(fields))
          .at(position);
   const auto relation = stringOf(fields[last - 1]);
   const auto schema = last >= 2 ? stringOf(fields[last - 2]) : std::string_view();
   Scope* level = nullptr;
   NamespaceItem* item = findItem(state, scope, schema, relation, position, &level);
   if (!item)
      if (auto parameter = parameterNamed(state, ref)) return parameter;
   if (!item) throwMissingRelation(scope, schema, relation, position);
   if (isStar(fields.back())) {
      if (state.recorder) state.recorder->isRow(item->relation ? item->relation->oid : invalidOid);
      return wholeRow(state, *item, position);
   }
   const auto name = stringOf(fields.back());
   if (auto column = findColumnIn(state, *level, *item, name, position)) {
      if (state.recorder) state.recorder->isColumn(item->relation ? item->relation->oid : invalidOid);
      return column;
   }
   ::A_Star star{T_A_Star};
   std::vector<::ListCell> cells(ref.fields->elements, ref.fields->elements + ref.fields->length);
   cells.back().ptr_value = &star;
   ::List rowName = *ref.fields;
   rowName.elements = cells.data();
   ::ColumnRef row = ref;
   row.fields = &rowName;
   if (auto call = functionOfRow(state, scope, fields.back(), reinterpret_cast<const ::Node*>(&row), ref.location))
      return call;
   throwMissingColumn(scope, relation, name, position);
}

ExprPtr functionOfRow(BindState& state, Scope& scope, const ::Node* name, const ::Node* row, int location) {
   const catalog::QualifiedName wanted{{}, {}, std::string(stringOf(name)), state.at(location)};
   const auto functions = catalog::functionsNamed(state.context.catalog, state.path(), wanted);
   const bool hasAny = std::any_of(functions.begin(), functions.end(),
                                   [](const catalog::FunctionInfo* one) { return one->oid >= firstUserOid; });
   if (!hasAny) return nullptr;
   if (state.recorder) throwNotSupported("a function that is written as a column, in a view", state.at(location));
   ::ListCell nameCell, rowCell;
   nameCell.ptr_value = const_cast<::Node*>(name);
   rowCell.ptr_value = const_cast<::Node*>(row);
   ::List names{}, args{};
   names.type = args.type = T_List;
   names.length = args.length = 1;
   names.elements = &nameCell;
   args.elements = &rowCell;
   ::FuncCall call{};
   call.type = T_FuncCall;
   call.funcname = &names;
   call.args = &args;
   call.location = location;
   try {
      return bindFunctionCall(state, scope, call);
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefinedFunction) throw;
      return nullptr;
   }
}

ExprPtr variableRow(BindState& state, Scope& scope, const ::ColumnRef& star) {
   if (state.variables())
      if (auto variable = variableNamed(state, scope, star)) return variable;
   const ListOf<> fields(star.fields);
   const uint32_t last = fields.size() - 1;
   const auto schema = last >= 2 ? stringOf(fields[last - 2]) : std::string_view();
   if (findItem(state, scope, schema, stringOf(fields[last - 1]), state.at(star.location))) return nullptr;
   return parameterNamed(state, star);
}

} // namespace ouzel::sql
