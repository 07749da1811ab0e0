#include "sql/bind/dml/arbiters.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/implication.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/stored_row.hpp"
#include "sql/bind/type/coercion.hpp"

namespace ouzel::sql {

namespace {

Arbiter arbiterOf(const catalog::Relation& table, const catalog::RelationPtr& index) {
   const auto* constraint = table.constraintOf(index->oid);
   if (constraint && constraint->isDeferrable)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters");
   return {index, index->index->nullsNotDistinct};
}

/// One element of the inference specification.
struct Wanted {
   int16_t attribute = 0; ///< 0: an expression
   ExprPtr expr;
   std::optional<Oid> collation;
   const catalog::OperatorClassInfo* operatorClass = nullptr;
};

class Inference {
public:
   Inference(BindState& state, Scope& scope, const ::InferClause& infer, const catalog::Relation& table,
             const std::vector<GetColumn>& stored, const ViewTarget* view)
      : state_(state), scope_(scope), infer_(infer), table_(table), stored_(stored), view_(view) {}

   std::vector<Arbiter> run();

private:
   void addElement(const ::IndexElem& element);
   bool fits(const catalog::Relation& index);
   bool fitsKey(const catalog::Relation& index, const Wanted& wanted, size_t i,
                const std::vector<ExprPtr>& exprs) const;
   ExprPtr overTable(ExprPtr expr);
   ExprPtr bound(const std::string& text, Clause clause) const {
      return bindOverTarget(state_, table_, stored_, text, clause);
   }

   BindState& state_;
   Scope& scope_;
   const ::InferClause& infer_;
   const catalog::Relation& table_;
   const std::vector<GetColumn>& stored_;
   const ViewTarget* const view_;
   std::vector<Wanted> wanted_;
   std::vector<ExprPtr> where_; ///< conjuncts
   bool canMatch_ = true;
};

/// An expression over the view that is named, over the table's columns.
ExprPtr Inference::overTable(ExprPtr expr) {
   if (!view_) return expr;
   std::vector<std::pair<ColumnId, ExprPtr>> columns;
   for (const ScopeColumn& shown : scope_.items.at(0).columns) {
      const catalog::Column* own = view_->view->column(shown.attribute);
      const catalog::Column* behind = own ? columnBehind(*view_, *own) : nullptr;
      for (const GetColumn& stored : stored_)
         if (behind && stored.attribute == behind->attribute)
            columns.emplace_back(shown.column, makeColumn(stored.column, behind->type));
   }
   substituteColumns(expr, [&](ColumnId column) -> const Expr* {
      for (const auto& [id, stored] : columns)
         if (id == column) return stored.get();
      canMatch_ = false; // the view computes it
      return nullptr;
   });
   return expr;
}

void Inference::addElement(const ::IndexElem& element) {
   const auto refuse = [&](const char* what) {
      throw SqlError(sqlstate::invalidColumnReference, std::string(what) + " is not allowed in ON CONFLICT clause")
          .at(state_.at(infer_.location));
   };
   if (element.ordering != SORTBY_DEFAULT) refuse("ASC/DESC");
   if (element.nulls_ordering != SORTBY_NULLS_DEFAULT) refuse("NULLS FIRST/LAST");
   Wanted wanted;
   if (element.name) {
      const auto* column = (view_ ? *view_->view : table_).findColumn(element.name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(element.name) + "\" does not exist")
             .at(state_.at(infer_.location));
      if (view_) {
         state_.access.of(view_->view->oid).selected.push_back(column->attribute);
         column = columnBehind(*view_, *column);
      }
      if (!column) { // the view computes it
         canMatch_ = false;
         return;
      }
      wanted.attribute = column->attribute;
   } else {
      wanted.expr = overTable(bindExpr(state_, scope_, element.expr, Clause::Index));
   }
   if (element.collation) {
      const ListOf<> parts(element.collation);
      catalog::QualifiedName name = catalog::QualifiedName::of(std::string(stringOf(parts.back())));
      if (parts.size() > 1) name.schema = stringOf(parts[parts.size() - 2]);
      wanted.collation = catalog::requireCollation(state_.context.catalog, state_.path(), name).oid;
   }
   if (element.opclass) {
      const std::string name(stringOf(ListOf<>(element.opclass).back()));
      wanted.operatorClass = catalog::findOperatorClass(catalog::accessMethod("btree"), name);
      if (!wanted.operatorClass)
         throw SqlError(sqlstate::undefinedObject,
                        "operator class \"" + name + "\" does not exist for access method \"btree\"");
   }
   wanted_.push_back(std::move(wanted));
}

/// Whether key column `i` of the index is what is wanted.
bool Inference::fitsKey(const catalog::Relation& index, const Wanted& wanted, size_t i,
                        const std::vector<ExprPtr>& exprs) const {
   const catalog::IndexDefinition& definition = *index.index;
   if (definition.columns[i] != wanted.attribute) return false;
   if (wanted.attribute == 0 && !equal(*exprs[i], *wanted.expr)) return false;
   if (wanted.collation && *wanted.collation != index.columns[i].type.collation) return false;
   if (!wanted.operatorClass) return true;
   const catalog::OperatorClassInfo* own =
       i < definition.classes.size() && definition.classes[i] != invalidOid
           ? catalog::operatorClass(definition.classes[i])
           : catalog::defaultOperatorClass(catalog::accessMethod(definition.method), index.columns[i].type.oid);
   return own && own->family == wanted.operatorClass->family && own->input == wanted.operatorClass->input;
}

bool Inference::fits(const catalog::Relation& index) {
   const catalog::IndexDefinition& definition = *index.index;
   std::vector<ExprPtr> exprs(definition.columns.size());
   for (size_t i = 0, expression = 0; i < exprs.size(); ++i)
      if (definition.columns[i] == 0) exprs[i] = bound(definition.expressions.at(expression++), Clause::Index);
   std::vector<bool> isWanted(exprs.size());
   for (const Wanted& wanted : wanted_) {
      bool isFound = false;
      for (size_t i = 0; i < exprs.size(); ++i) {
         if (!fitsKey(index, wanted, i, exprs)) continue;
         isFound = true;
         isWanted[i] = true;
      }
      if (!isFound) return false;
   }
   // Of a column that is a key twice, with two collations, one is enough.
   for (size_t i = 0; i < exprs.size(); ++i)
      for (const Wanted& wanted : wanted_)
         if (definition.columns[i] != 0 && definition.columns[i] == wanted.attribute) isWanted[i] = true;
   if (std::find(isWanted.begin(), isWanted.end(), false) != isWanted.end()) return false;
   if (definition.predicate.empty()) return true;
   const std::vector<ExprPtr> predicate =
       conjunctsOf(coerceToBoolean(state_, bound(definition.predicate, Clause::IndexPredicate), "WHERE"));
   return impliesAll(where_, predicate);
}

std::vector<Arbiter> Inference::run() {
   for (const auto* element : ListOf<IndexElem>(infer_.indexElems))
      addElement(*element);
   if (infer_.whereClause)
      where_ = conjunctsOf(overTable(
          coerceToBoolean(state_, bindExpr(state_, scope_, infer_.whereClause, Clause::IndexPredicate), "WHERE")));
   std::vector<Arbiter> arbiters;
   for (const auto& index : state_.context.catalog.indexesOf(table_.oid)) {
      if (!canMatch_ || !(index->index->isUnique || index->index->isPrimary) || !fits(*index)) continue;
      Arbiter found = arbiterOf(table_, index);
      // Several indexes with the same key find the same rows, except for NULLS NOT DISTINCT and predicates.
      if (arbiters.empty()) {
         arbiters.push_back(std::move(found));
         continue;
      }
      found.nullsNotDistinct = arbiters[0].nullsNotDistinct = arbiters[0].nullsNotDistinct || found.nullsNotDistinct;
      if (!arbiters[0].definition().predicate.empty() && found.definition().predicate.empty())
         arbiters[0] = std::move(found);
   }
   if (arbiters.empty())
      throw SqlError(sqlstate::invalidColumnReference,
                     "there is no unique or exclusion constraint matching the ON CONFLICT specification");
   return arbiters;
}

} // namespace

std::vector<Arbiter> inferArbiters(BindState& state, Scope& scope, const ::OnConflictClause& clause,
                                   const catalog::Relation& table, const std::vector<GetColumn>& stored,
                                   const ViewTarget* view) {
   std::vector<Arbiter> arbiters;
   const auto indexes = state.context.catalog.indexesOf(table.oid);
   if (!clause.infer) {
      if (clause.action == ONCONFLICT_UPDATE)
         throw SqlError(sqlstate::syntaxError,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name")
             .at(state.at(clause.location))
             .hint("For example, ON CONFLICT (column_name).");
      for (const auto& index : indexes)
         if (index->index->isUnique || index->index->isPrimary || !index->index->operators.empty())
            arbiters.push_back(arbiterOf(table, index));
      return arbiters;
   }
   const ::InferClause& infer = *clause.infer;
   if (!infer.conname) return Inference(state, scope, infer, table, stored, view).run();
   const catalog::Relation& named = view ? *view->view : table;
   const auto* constraint = named.findConstraint(infer.conname);
   if (!constraint)
      throw SqlError(sqlstate::undefinedObject, "constraint \"" + std::string(infer.conname) + "\" for table \"" +
                                                    named.name + "\" does not exist");
   for (const auto& index : indexes)
      if (index->oid == constraint->index) {
         if (!index->index->isUnique && clause.action == ONCONFLICT_UPDATE)
            throw SqlError(sqlstate::wrongObjectType, "ON CONFLICT DO UPDATE not supported with exclusion constraints");
         arbiters.push_back(arbiterOf(table, index));
      }
   if (arbiters.empty())
      throw SqlError(sqlstate::wrongObjectType, "constraint in ON CONFLICT clause has no associated index");
   return arbiters;
}

} // namespace ouzel::sql
