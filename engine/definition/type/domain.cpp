#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/source_range.hpp"
#include "sql/parse/node_access.hpp"

// CREATE DOMAIN and ALTER DOMAIN. A domain is kept as a relation with one column, "value", so that its constraints are
// those of a table: the VALUE of a CHECK is that column.

namespace ouzel::engine {

using sql::as;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

/// Throws for constraints that only tables have.
void refuseTableConstraint(const ::Constraint& constraint, uint32_t position) {
   const auto refuse = [&](SqlState state, const char* message) { throw SqlError(state, message).at(position); };
   switch (constraint.contype) {
   case CONSTR_UNIQUE: return refuse(sqlstate::syntaxError, "unique constraints not possible for domains");
   case CONSTR_PRIMARY: return refuse(sqlstate::syntaxError, "primary key constraints not possible for domains");
   case CONSTR_EXCLUSION: return refuse(sqlstate::syntaxError, "exclusion constraints not possible for domains");
   case CONSTR_FOREIGN: return refuse(sqlstate::syntaxError, "foreign key constraints not possible for domains");
   case CONSTR_ATTR_DEFERRABLE:
   case CONSTR_ATTR_NOT_DEFERRABLE:
   case CONSTR_ATTR_DEFERRED:
   case CONSTR_ATTR_IMMEDIATE:
      return refuse(sqlstate::featureNotSupported, "specifying constraint deferrability not supported for domains");
   default: return;
   }
}

/// Makes the draft of a domain, or changes the copy of one.
class DomainDefinition {
public:
   DomainDefinition(CommandContext& context, catalog::Relation domain)
      : context_(context), path_(context.core.searchPath()), domain_(std::move(domain)) {}

   void setBase(const ::TypeName& type, const ::CollateClause* collation);
   void addConstraints(const ::List* constraints);
   /// `text`: of the constraint from its CHECK on.
   catalog::Constraint check(const ::Constraint& constraint) const;
   void setDefault(const ::Node& expression, std::string_view text);
   catalog::Column& value() { return domain_.columns[0]; }
   catalog::Relation take() { return std::move(domain_); }

private:
   /// PostgreSQL gives no positions in definitions of domains.
   sql::BindContext bindContext() const { return context_.core.bindContext(path_, nullptr); }

   CommandContext& context_;
   const catalog::SearchPath path_;
   catalog::Relation domain_;
};

void DomainDefinition::setBase(const ::TypeName& type, const ::CollateClause* collation) {
   catalog::Column column;
   column.name = "value";
   column.attribute = 1;
   ::ColumnDef definition{};
   definition.typeName = const_cast<::TypeName*>(&type);
   definition.collClause = const_cast<::CollateClause*>(collation);
   column.type = sql::resolveColumnType(definition, bindContext());
   column.dimensions = declaredDimensions(definition);
   const catalog::TypeInfo* info = catalog::builtins().type(column.type.oid);
   if (column.type.oid == oid::record || (info && info->isPseudo()))
      throw SqlError(sqlstate::datatypeMismatch, "\"" + std::string(stringOf(ListOf<>(type.names).back())) +
                                                     "\" is not a valid base type for a domain")
          .at(context_.position(type.location));
   requireTypeUsage(context_.core, column.type);
   const bool isOfDomain = column.type.domain != invalidOid && (column.type.domain & userArrayBit) == 0;
   if (const auto base = isOfDomain ? context_.core.transaction.catalog().relationOfType(column.type.domain) : nullptr;
       base && base->columns[0].hasDefault()) { // the default that it has now, whatever it gets later
      const catalog::Column& lent = base->columns[0];
      column.defaultExpr = lent.defaultExpr;
      column.defaultSequence = lent.defaultSequence;
      column.relationsInDefault = lent.relationsInDefault;
      column.defaultOid = context_.core.transaction.editor().allocateOid();
   }
   domain_.columns.push_back(std::move(column));
}

void DomainDefinition::setDefault(const ::Node& expression, std::string_view text) {
   catalog::Column& column = value();
   const auto bound = sql::bindExpression(expression, sql::ExpressionUse::ColumnDefault, nullptr,
                                          withoutDomain(column.type), domain_.name, bindContext());
   column.dropDefault();
   if (isNoDefault(*bound.expr, column.type)) return;
   noteRelations(context_.core, *bound.expr, column);
   column.defaultExpr =
       storedText(context_, expression, sql::ExpressionUse::ColumnDefault, nullptr, withoutDomain(column.type), text);
   if (column.defaultOid == invalidOid) column.defaultOid = context_.core.transaction.editor().allocateOid();
}

catalog::Constraint DomainDefinition::check(const ::Constraint& constraint) const {
   const std::string_view text = parenthesized(context_.source().text(), static_cast<size_t>(constraint.location));
   const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::CheckConstraint, &domain_,
                                          std::nullopt, {}, bindContext());
   catalog::Constraint made;
   made.name = std::string(textOf(constraint.conname));
   made.kind = catalog::ConstraintKind::Check;
   made.expression =
       storedText(context_, *constraint.raw_expr, sql::ExpressionUse::CheckConstraint, &domain_, std::nullopt, text);
   made.isValidated = !constraint.skip_validation;
   return made;
}

void DomainDefinition::addConstraints(const ::List* constraints) {
   bool sawDefault = false, sawNull = false, sawNotNull = false;
   const std::string_view text = context_.source().text();
   for (const ::Constraint* constraint : ListOf<::Constraint>(constraints))
      refuseTableConstraint(*constraint, 0);
   for (const ColumnConstraint& one : columnConstraints(context_, constraints)) {
      const ::Constraint& constraint = one.definition;
      switch (constraint.contype) {
      case CONSTR_DEFAULT:
         if (std::exchange(sawDefault, true)) throw SqlError(sqlstate::syntaxError, "multiple default expressions");
         setDefault(
             *constraint.raw_expr,
             expressionText(text, afterKeyword(text, static_cast<size_t>(constraint.location), "default"), one.end));
         break;
      case CONSTR_NULL:
         if (sawNotNull) throw SqlError(sqlstate::syntaxError, "conflicting NULL/NOT NULL constraints");
         sawNull = true;
         break;
      case CONSTR_NOTNULL:
         if (sawNull) throw SqlError(sqlstate::syntaxError, "conflicting NULL/NOT NULL constraints");
         sawNotNull = true;
         value().notNull = true;
         break;
      case CONSTR_CHECK:
         if (constraint.is_no_inherit)
            throw SqlError(sqlstate::invalidObjectDefinition,
                           "check constraints for domains cannot be marked NO INHERIT");
         domain_.constraints.push_back(check(constraint));
         break;
      default: throwNotSupported("this constraint of a domain", context_.position(constraint.location));
      }
   }
}

/// Whether a domain is `base`, or made over it.
bool isOver(const catalog::Snapshot& snapshot, Oid domain, const catalog::Relation& base) {
   while (domain != invalidOid && domain != base.rowType) {
      const catalog::RelationPtr made = (domain & userArrayBit) == 0 ? snapshot.relationOfType(domain) : nullptr;
      domain = made ? made->columns[0].type.domain : invalidOid;
   }
   return domain == base.rowType;
}

/// Throws if a table has a value that the domain, which has a new constraint, refuses.
void requireValuesPass(CommandContext& context, const catalog::Relation& domain, std::string_view problem) {
   SessionCore& core = context.core;
   core.format(); // the checks are those of the changed catalog
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& table : snapshot.relations()) {
      if (table->storage == catalog::noStorage) continue;
      for (const catalog::Column& column : table->columns) {
         if (column.isDropped) continue;
         if (!isMadeOf(snapshot, column.type, domain)) continue;
         if (!isOver(snapshot, column.type.domain, domain))
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type \"" + domain.name +
                                                              "\" because column \"" + table->name + "." + column.name +
                                                              "\" uses it");
         core.transaction.lock(table->oid, LockMode::Share); // nobody writes values that the checks would miss
         try {
            runOnNewest(core, "SELECT count(ouzel_domain(" + catalog::quoteIdentifier(column.name) + ", " +
                                  std::to_string(domain.rowType) + "::oid)) FROM " + quotedTable(snapshot, *table));
         } catch (const SqlError& error) {
            if (error.state() != sqlstate::checkViolation && error.state() != sqlstate::notNullViolation) throw;
            throw SqlError(error.state(), "column \"" + column.name + "\" of table \"" + table->name + "\" contains " +
                                              std::string(problem))
                .table(snapshot.schema(table->schema)->name, table->name)
                .column(column.name);
         }
      }
   }
}

catalog::RelationPtr requireDomain(CommandContext& context, const ::List* name) {
   SessionCore& core = context.core;
   const auto* node = reinterpret_cast<const ::Node*>(name);
   return lockFound(core, LockMode::AccessExclusive, false, [&] {
      auto found = findUserType(context, node);
      if (!found) refuseToAlter(OBJECT_DOMAIN, findSystemObject(core, OBJECT_DOMAIN, node));
      requireDefined(*found, node);
      if (found->relationKind != catalog::RelationKind::Domain)
         throw SqlError(sqlstate::wrongObjectType, "\"" + found->name + "\" is not a domain");
      requireOwner(core, *found);
      return found;
   });
}

} // namespace

std::string createDomain(CommandContext& context, const ::CreateDomainStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE DOMAIN");
   const NewRelation target = newType(context, statement.domainname);
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.persistence = target.persistence();
   draft.relationKind = catalog::RelationKind::Domain;
   requireNewType(core, draft.schema, draft.name);
   DomainDefinition definition(context, std::move(draft));
   definition.setBase(*statement.typeName, statement.collClause);
   definition.addConstraints(statement.constraints);
   core.transaction.editor().createRelation(definition.take());
   return "CREATE DOMAIN";
}

std::string alterDomain(CommandContext& context, const ::AlterDomainStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER DOMAIN");
   const auto domain = requireDomain(context, statement.typeName);
   catalog::CatalogEditor& editor = core.transaction.editor();
   DomainDefinition definition(context, *domain);
   const std::string_view text = context.source().text();
   switch (statement.subtype) {
   case 'T': // SET or DROP DEFAULT
      if (statement.def)
         definition.setDefault(*statement.def,
                               expressionText(text, afterKeyword(text, context.statement.offset, "default"),
                                              context.statement.offset + context.statement.text.size()));
      else
         definition.value().dropDefault();
      editor.replaceRelation(definition.take());
      break;
   case 'N':
   case 'O':
      definition.value().notNull = statement.subtype == 'O';
      editor.replaceRelation(definition.take());
      if (statement.subtype == 'O') requireValuesPass(context, *domain, "null values");
      break;
   case 'C': {
      const auto& constraint = *as<::Constraint>(statement.def);
      refuseTableConstraint(constraint, 0);
      if (constraint.contype != CONSTR_CHECK) throwNotSupported("this constraint of a domain");
      editor.addConstraint(domain->oid, definition.check(constraint));
      if (!constraint.skip_validation) requireValuesPass(context, *domain, "values that violate the new constraint");
      break;
   }
   case 'V': {
      catalog::Relation changed = definition.take();
      const auto found = std::find_if(changed.constraints.begin(), changed.constraints.end(),
                                      [&](const catalog::Constraint& c) { return c.name == statement.name; });
      if (found == changed.constraints.end())
         throw SqlError(sqlstate::undefinedObject, "constraint \"" + std::string(statement.name) + "\" of domain \"" +
                                                       domain->name + "\" does not exist");
      found->isValidated = true;
      editor.replaceRelation(std::move(changed));
      requireValuesPass(context, *domain, "values that violate the new constraint");
      break;
   }
   case 'X': {
      if (!domain->findConstraint(statement.name)) {
         const std::string problem =
             "constraint \"" + std::string(statement.name) + "\" of domain \"" + domain->name + "\" does not exist";
         if (!statement.missing_ok) throw SqlError(sqlstate::undefinedObject, problem);
         core.notice(problem + ", skipping");
         break;
      }
      const auto behavior =
          statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
      editor.dropConstraint(domain->oid, statement.name, behavior, statement.missing_ok);
      break;
   }
   default: throwNotSupported("this form of ALTER DOMAIN");
   }
   return "ALTER DOMAIN";
}

} // namespace ouzel::engine
