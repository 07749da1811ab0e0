#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/object/published_tables.hpp"
#include "catalog/object/row_security.hpp"
#include "catalog/pg_catalog/acl_items.hpp"
#include "common/type/array.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/name_scope.hpp"
#include "executor/function/system/object_functions.hpp"
#include "executor/function/value_text.hpp"

// Kernels that call catalog/pg_catalog/functions.hpp: format_type, pg_get_*def, pg_*_is_visible, comments, privileges,
// conversions of names to OIDs. Each call resolves the search path anew, since statements call these functions for few
// rows.

namespace ouzel::executor {

namespace {

using catalog::NameContext;

std::optional<StringView> copied(const std::optional<std::string>& text, KernelEnv& env) {
   return text ? std::optional(env.copy(*text)) : std::nullopt;
}
Oid oidOf(int64_t value) {
   return static_cast<Oid>(value);
}

/// The types of a function's arguments, with commas between.
StringView typesOf(const StringView& types, KernelEnv& env) {
   const NameScope scope(env.context);
   std::string text;
   const ArrayView array(types.view());
   for (ArrayView::Cursor type(array); type.next();) {
      if (!text.empty()) text += ", ";
      text += catalog::formatType(scope.names(), oidOf(type.as<int64_t>()), std::nullopt);
   }
   return env.copy(text);
}
std::optional<StringView> formatTypeOf(std::optional<int64_t> type, std::optional<int32_t> typmod, KernelEnv& env) {
   if (!type) return std::nullopt;
   return env.copy(catalog::formatType(NameScope(env.context).names(), oidOf(*type), typmod));
}

// ---- visibility ----

template <std::optional<bool> (*function)(const NameContext&, Oid)>
std::optional<bool> isVisible(int64_t object, KernelEnv& env) {
   return function(NameScope(env.context).names(), oidOf(object));
}
template <size_t index>
std::optional<bool> isBuiltinVisible(int64_t object, KernelEnv& env) {
   static constexpr std::string_view catalogs[] = {"pg_opclass",   "pg_opfamily", "pg_conversion", "pg_statistic_ext",
                                                   "pg_ts_config", "pg_ts_dict",  "pg_ts_parser",  "pg_ts_template"};
   return catalog::isBuiltinVisible(NameScope(env.context).names(), catalogs[index], oidOf(object));
}

// ---- names to OIDs ----

template <std::optional<Oid> (*function)(const NameContext&, std::string_view)>
std::optional<int64_t> toOid(const StringView& name, KernelEnv& env) {
   const std::optional<Oid> result = function(NameScope(env.context).names(), name.view());
   return result ? std::optional(static_cast<int64_t>(*result)) : std::nullopt;
}
int64_t textRegclass(const StringView& name, KernelEnv& env) {
   return catalog::regclassIn(NameScope(env.context).names(), name.view());
}

// ---- definitions ----

/// What `print` gives; else the text that the catalog keeps, where there is no session, or something that the printer
/// does not know.
template <typename Print, typename Stored>
auto printed(KernelEnv& env, Print&& print, Stored&& stored) {
   if (!env.context.session) return stored();
   try {
      return print(*env.context.session);
   } catch (const SqlError& error) {
      if (error.state() == sqlstate::queryCanceled) throw;
      return stored();
   }
}

std::optional<StringView> viewText(Oid view, const TextLayout& layout, KernelEnv& env) {
   const NameScope scope(env.context);
   const auto relation = scope.snapshot().relation(view);
   if (!relation || relation->definition.empty()) return std::nullopt;
   return env.copy(printed(
       env, [&](SessionFunctions& session) { return session.viewText(*relation, layout); },
       [&] { return catalog::viewDefinition(scope.names(), view).value(); }));
}

/// An expression of the catalog, which keeps SQL with OIDs for relations.
ExpressionText expressionText(std::string_view stored, Oid relation, bool pretty, KernelEnv& env) {
   return printed(
       env,
       [&](SessionFunctions& session) {
          return session.expressionText(stored, relation, {pretty, 0});
       },
       [&] {
          const NameScope scope(env.context);
          const auto table = scope.snapshot().relation(relation);
          return ExpressionText{
              catalog::withRelationNames(scope.names(), catalog::expressionOf(stored, table.get()).first), false};
       });
}

catalog::ShowExpression shower(bool pretty, KernelEnv& env) {
   return [pretty, &env](std::string_view stored, const catalog::Relation& relation) {
      ExpressionText shown = expressionText(stored, relation.oid, pretty, env);
      return catalog::ShownExpression{std::move(shown.text), shown.isCall};
   };
}

std::optional<StringView> viewDefinition(int64_t view, KernelEnv& env) {
   return viewText(oidOf(view), {}, env);
}
std::optional<StringView> viewDefinitionPretty(int64_t view, bool pretty, KernelEnv& env) {
   return viewText(oidOf(view), {pretty, 0}, env);
}
std::optional<StringView> viewDefinitionWrapped(int64_t view, int32_t length, KernelEnv& env) {
   return viewText(oidOf(view), {true, length}, env);
}
std::optional<StringView> namedViewDefinition(const StringView& name, KernelEnv& env) {
   return viewText(catalog::regclassIn(NameScope(env.context).names(), name.view()), {}, env);
}
std::optional<StringView> namedViewDefinitionPretty(const StringView& name, bool pretty, KernelEnv& env) {
   return viewText(catalog::regclassIn(NameScope(env.context).names(), name.view()), {pretty, 0}, env);
}
std::optional<StringView> constraintDefinition(int64_t constraint, bool pretty, KernelEnv& env) {
   return copied(catalog::constraintDefinition(NameScope(env.context).names(), oidOf(constraint), shower(pretty, env)),
                 env);
}
std::optional<StringView> constraintDefinitionPlain(int64_t constraint, KernelEnv& env) {
   return constraintDefinition(constraint, false, env);
}
std::optional<StringView> indexDefinition(int64_t index, int32_t column, bool pretty, KernelEnv& env) {
   return copied(
       catalog::indexDefinition(NameScope(env.context).names(), oidOf(index), column, pretty, shower(pretty, env)),
       env);
}
std::optional<StringView> indexDefinitionPlain(int64_t index, KernelEnv& env) {
   return indexDefinition(index, 0, false, env);
}
/// pg_get_expr().
std::optional<StringView> expressionTextPretty(const StringView& expression, int64_t relation, bool pretty,
                                               KernelEnv& env) {
   return env.copy(expressionText(expression.view(), oidOf(relation), pretty, env).text);
}
std::optional<StringView> expressionTextPlain(const StringView& expression, int64_t relation, KernelEnv& env) {
   return expressionTextPretty(expression, relation, false, env);
}
std::optional<StringView> ruleTextPretty(int64_t rule, bool pretty, KernelEnv& env) {
   if (!env.context.session) return std::nullopt;
   const auto view = NameScope(env.context).snapshot().relation(catalog::viewOfRule(oidOf(rule)));
   if (view && !view->definition.empty()) {
      const NameScope scope(env.context);
      const auto schema = scope.snapshot().schema(view->schema);
      const std::string name =
          pretty || !schema ? catalog::displayName(scope.snapshot(), scope.names().path, *view)
                            : catalog::quoteIdentifier(schema->name) + "." + catalog::quoteIdentifier(view->name);
      return env.copy("CREATE RULE \"_RETURN\" AS\n    ON SELECT TO " + name + " DO INSTEAD " +
                      std::string(viewText(view->oid, {pretty, 0}, env)->view()));
   }
   return copied(env.context.session->ruleText(oidOf(rule), {pretty, 0}), env);
}
std::optional<StringView> triggerTextPretty(int64_t trigger, bool pretty, KernelEnv& env) {
   if (!env.context.session) return std::nullopt;
   return copied(env.context.session->triggerText(oidOf(trigger), {pretty, 0}), env);
}
std::optional<StringView> triggerText(int64_t trigger, KernelEnv& env) {
   return triggerTextPretty(trigger, false, env);
}
int32_t triggerDepth(KernelEnv& env) {
   return static_cast<int32_t>(env.context.requireSession("pg_trigger_depth").triggerDepth());
}
int64_t rewrittenTable(KernelEnv& env) {
   constexpr const char* name = "pg_event_trigger_table_rewrite_oid";
   return env.context.requireSession(name).eventNumber(name);
}
int32_t rewriteReason(KernelEnv& env) {
   constexpr const char* name = "pg_event_trigger_table_rewrite_reason";
   return static_cast<int32_t>(env.context.requireSession(name).eventNumber(name));
}
std::optional<StringView> ruleText(int64_t rule, KernelEnv& env) {
   return ruleTextPretty(rule, false, env);
}
std::optional<StringView> functionArguments(int64_t function, KernelEnv& env) {
   return copied(catalog::functionArguments(NameScope(env.context).names(), oidOf(function), shower(false, env)), env);
}
std::optional<StringView> functionIdentityArguments(int64_t function, KernelEnv& env) {
   return copied(catalog::functionArguments(NameScope(env.context).names(), oidOf(function), nullptr), env);
}
std::optional<StringView> argumentDefault(int64_t function, int32_t number, KernelEnv& env) {
   return copied(catalog::argumentDefault(NameScope(env.context).names(), oidOf(function), number, shower(false, env)),
                 env);
}
std::optional<std::string> bodyOf(Oid function, KernelEnv& env) {
   return printed(
       env, [&](SessionFunctions& session) { return session.functionBody(function); },
       [&] { return catalog::writtenBody(NameScope(env.context).snapshot(), function); });
}
std::optional<StringView> functionBody(int64_t function, KernelEnv& env) {
   return copied(bodyOf(oidOf(function), env), env);
}
std::optional<StringView> functionDefinition(int64_t function, KernelEnv& env) {
   const Oid oid = oidOf(function);
   return copied(catalog::functionDefinition(NameScope(env.context).names(), oid, shower(false, env), bodyOf(oid, env)),
                 env);
}
std::optional<StringView> functionResult(int64_t function, KernelEnv& env) {
   return copied(catalog::functionResult(NameScope(env.context).names(), oidOf(function)), env);
}
std::optional<StringView> serialSequence(const StringView& table, const StringView& column, KernelEnv& env) {
   return copied(catalog::serialSequence(NameScope(env.context).names(), table.view(), column.view()), env);
}
/// A text of a relation; NULL if it is empty or there is no such relation.
template <auto text>
std::optional<StringView> textOfRelation(int64_t oid, KernelEnv& env) {
   const NameScope scope(env.context);
   const auto relation = scope.names().snapshot.relation(oidOf(oid));
   if (!relation) return std::nullopt;
   std::string result;
   if constexpr (std::is_invocable_v<decltype(text), const catalog::Relation&>)
      result = text(*relation);
   else if constexpr (std::is_invocable_v<decltype(text), const catalog::NameContext&, const catalog::Relation&>)
      result = text(scope.names(), *relation);
   else
      result = text(scope.names().snapshot, *relation);
   return copied(result.empty() ? std::nullopt : std::optional(std::move(result)), env);
}
/// Those that every server has lie in its data directory.
std::optional<StringView> tablespaceLocation(int64_t tablespace) {
   constexpr int64_t ofDatabase = 0, pgDefault = 1663, pgGlobal = 1664;
   const bool isKnown = tablespace == ofDatabase || tablespace == pgDefault || tablespace == pgGlobal;
   return isKnown ? std::optional(StringView()) : std::nullopt;
}
std::optional<int64_t> partitionRoot(int64_t oid, KernelEnv& env) {
   const NameScope scope(env.context);
   const catalog::Snapshot& snapshot = scope.names().snapshot;
   const auto relation = snapshot.relation(oidOf(oid));
   const bool isIndex = relation && relation->index && (relation->index->isPartitioned || relation->index->parentIndex);
   if (isIndex) {
      auto root = relation;
      while (root->index->parentIndex != invalidOid)
         root = snapshot.relation(root->index->parentIndex);
      return root->oid;
   }
   if (!relation || !(relation->partitionKey || relation->bound)) return std::nullopt;
   return catalog::partitionRoot(snapshot, relation->oid);
}
std::optional<StringView> nothing(int64_t) {
   return std::nullopt;
}
bool noAtAll() {
   return false;
}
int64_t myTemporarySchema(KernelEnv& env) {
   return env.context.temporarySchema;
}
bool isOtherTemporarySchema(int64_t schema, KernelEnv& env) {
   const catalog::SchemaPtr found = NameScope(env.context).snapshot().schema(oidOf(schema));
   return found && found->name.starts_with("pg_temp_") && found->oid != env.context.temporarySchema;
}

// ---- comments and roles ----

const catalog::Snapshot& snapshotOf(KernelEnv& env) {
   if (!env.context.catalog) throwInternal("no catalog to look objects up in");
   return *env.context.catalog;
}
std::optional<StringView> objDescription(int64_t object, const StringView& catalogName, KernelEnv& env) {
   return copied(catalog::objDescription(snapshotOf(env), oidOf(object), catalogName.view()), env);
}
std::optional<StringView> objDescriptionOld(int64_t object, KernelEnv& env) {
   return copied(catalog::objDescription(snapshotOf(env), oidOf(object)), env);
}
std::optional<StringView> shobjDescription(int64_t object, const StringView& catalogName, KernelEnv& env) {
   return copied(catalog::shobjDescription(snapshotOf(env), oidOf(object), catalogName.view()), env);
}
std::optional<StringView> colDescription(int64_t relation, int32_t attribute, KernelEnv& env) {
   return copied(catalog::colDescription(snapshotOf(env), oidOf(relation), attribute), env);
}
StringView userById(int64_t role, KernelEnv& env) {
   return env.copy(catalog::userName(snapshotOf(env), oidOf(role)));
}
constexpr int32_t updateEvent = 1 << 2, insertEvent = 1 << 3, deleteEvent = 1 << 4;

/// The events that can reach one column of a relation, or with attribute 0 any.
int32_t events(const catalog::Relation& relation, int16_t attribute, KernelEnv& env) {
   constexpr int32_t all = updateEvent | insertEvent | deleteEvent;
   if (relation.foreign) {
      const catalog::ForeignWrapperPtr wrapper = catalog::wrapperOf(snapshotOf(env), *relation.foreign);
      if (wrapper->handler == invalidOid) catalog::throwNoHandler(wrapper->name);
      return 0; // what reads foreign tables does not write them
   }
   if (relation.relationKind == catalog::RelationKind::Table) return all;
   if (relation.relationKind != catalog::RelationKind::View || !env.context.session) return 0;
   const std::vector<bool> writable = env.context.session->writableColumns(relation);
   if (writable.empty()) return 0;
   const bool reaches = attribute == 0 ? std::find(writable.begin(), writable.end(), true) != writable.end()
                                       : attribute <= static_cast<int64_t>(writable.size()) &&
                                             writable[static_cast<size_t>(attribute) - 1];
   return reaches ? all : deleteEvent;
}

int32_t updatable(int64_t relation, bool, KernelEnv& env) {
   const auto found = snapshotOf(env).relation(oidOf(relation));
   return found ? events(*found, 0, env) : 0;
}
bool columnUpdatable(int64_t relation, int16_t attribute, bool, KernelEnv& env) {
   const auto found = snapshotOf(env).relation(oidOf(relation));
   constexpr int32_t needed = updateEvent | deleteEvent;
   return found && attribute > 0 && (events(*found, attribute, env) & needed) == needed;
}

/// What CREATE PUBLICATION takes; null for what is no relation of this database.
std::optional<bool> isPublishable(int64_t relation, KernelEnv& env) {
   const auto found = snapshotOf(env).relation(oidOf(relation));
   return found ? std::optional(catalog::isPublishable(*found)) : std::nullopt;
}

/// Null for what is no relation of this database.
std::optional<int64_t> relationSize(int64_t relation, KernelEnv& env) {
   if (!snapshotOf(env).relation(oidOf(relation))) return std::nullopt;
   return env.context.session ? env.context.session->relationSize(oidOf(relation)) : 0;
}
std::optional<int64_t> relationForkSize(int64_t relation, const StringView& fork, KernelEnv& env) {
   const auto size = relationSize(relation, env);
   return size && fork.view() != "main" ? 0 : size;
}
constexpr Oid defaultTablespace = 1663, globalTablespace = 1664;
constexpr Oid readAllStats = 3375; // the predefined role pg_read_all_stats

int64_t bytesOf(const catalog::Database& database, const NameScope& scope, KernelEnv& env) {
   int64_t total = 0;
   if (env.context.session)
      for (const catalog::RelationPtr& relation : scope.snapshot().relationsOfDatabase(database.oid))
         total += env.context.session->relationSize(relation->oid);
   return total;
}
/// Null for what is no database. Throws 42501 for one to which who asks may not connect.
std::optional<int64_t> databaseSize(int64_t oid, KernelEnv& env) {
   const NameScope scope(env.context);
   const catalog::DatabasePtr database = scope.snapshot().database(oidOf(oid));
   if (!database) return std::nullopt;
   if (!catalog::mayUse(scope.snapshot(), scope.names().role, *database, catalog::privilege::connect) &&
       !catalog::inheritsFrom(scope.snapshot(), scope.names().role, readAllStats))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied for database " + database->name);
   return bytesOf(*database, scope, env);
}
/// All databases are in pg_default; what they share has no files of its own. Null for what is no tablespace.
std::optional<int64_t> tablespaceSize(int64_t oid, KernelEnv& env) {
   if (oid != defaultTablespace && oid != globalTablespace) return std::nullopt;
   const NameScope scope(env.context);
   if (oid == globalTablespace) {
      const Oid role = scope.names().role;
      if (!catalog::isSuperuser(scope.snapshot(), role) && !catalog::inheritsFrom(scope.snapshot(), role, readAllStats))
         throw SqlError(sqlstate::insufficientPrivilege, "permission denied for tablespace pg_global");
      return 0;
   }
   int64_t total = 0;
   for (const catalog::DatabasePtr& database : scope.snapshot().databases())
      total += bytesOf(*database, scope, env);
   return total;
}

// ---- privileges: has_X_privilege([role,] object, privilege), with role and object by OID or name ----

Oid roleArgument(int64_t role, const NameScope&) {
   return oidOf(role);
}
Oid roleArgument(const StringView& role, const NameScope& scope) {
   return catalog::requireRole(scope.snapshot(), role.view());
}

Oid databaseIn(const NameContext& names, std::string_view name) {
   const catalog::DatabasePtr database = names.snapshot.findDatabase(name);
   if (!database) throw SqlError(sqlstate::invalidCatalogName, "database \"" + std::string(name) + "\" does not exist");
   return database->oid;
}
std::optional<int64_t> databaseSizeByName(const StringView& name, KernelEnv& env) {
   return databaseSize(databaseIn(NameScope(env.context).names(), name.view()), env);
}
Oid languageIn(const NameContext& context, std::string_view name) {
   if (const catalog::Language* made = catalog::findUserLanguage(context.snapshot, name)) return made->oid;
   if (const Oid found = catalog::findLanguage(name)) return found;
   throw SqlError(sqlstate::undefinedObject, "language \"" + std::string(name) + "\" does not exist");
}
Oid tablespaceIn(const NameContext&, std::string_view name) {
   if (name == "pg_default") return defaultTablespace;
   if (name == "pg_global") return globalTablespace;
   throw SqlError(sqlstate::undefinedObject, "tablespace \"" + std::string(name) + "\" does not exist");
}
std::optional<int64_t> tablespaceSizeByName(const StringView& name, KernelEnv& env) {
   return tablespaceSize(tablespaceIn(NameScope(env.context).names(), name.view()), env);
}

Oid serverIn(const NameContext& names, std::string_view name) {
   return catalog::requireServer(names.snapshot, name)->oid;
}
Oid wrapperIn(const NameContext& names, std::string_view name) {
   return catalog::requireWrapper(names.snapshot, name)->oid;
}

using Lookup = Oid (*)(const NameContext&, std::string_view);
template <Lookup lookup>
Oid objectArgument(int64_t object, const NameScope&) {
   return oidOf(object);
}
template <Lookup lookup>
Oid objectArgument(const StringView& name, const NameScope& scope) {
   return lookup(scope.names(), name.view());
}

using Check = std::optional<bool> (*)(const catalog::Snapshot&, Oid role, Oid object, std::string_view);
template <Check check, Lookup lookup, typename Role, typename Object>
std::optional<bool> hasPrivilege(Role role, Object object, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   return check(scope.snapshot(), roleArgument(role, scope), objectArgument<lookup>(object, scope), privilege.view());
}
template <Check check, Lookup lookup, typename Object>
std::optional<bool> hasOwnPrivilege(Object object, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   return check(scope.snapshot(), scope.names().role, objectArgument<lookup>(object, scope), privilege.view());
}

template <Check check, Lookup lookup>
void addPrivilege(const std::string& kind) {
   const std::string base = "has_" + kind + "_privilege_";
   using Name = const StringView&;
   addKernel<hasOwnPrivilege<check, lookup, int64_t>>(base + "id");
   addKernel<hasOwnPrivilege<check, lookup, Name>>(base + "name");
   addKernel<hasPrivilege<check, lookup, int64_t, int64_t>>(base + "id_id");
   addKernel<hasPrivilege<check, lookup, int64_t, Name>>(base + "id_name");
   addKernel<hasPrivilege<check, lookup, Name, int64_t>>(base + "name_id");
   addKernel<hasPrivilege<check, lookup, Name, Name>>(base + "name_name");
}

// A column argument, by number or name.
int16_t columnArgument(int16_t attribute, const NameScope&, Oid) {
   return attribute;
}
int16_t columnArgument(const StringView& name, const NameScope& scope, Oid relation) {
   const catalog::RelationPtr found = scope.snapshot().relation(relation);
   return found ? catalog::requireColumn(*found, name.view()).attribute : 0;
}
template <typename Role, typename Object, typename Column>
std::optional<bool> hasColumn(Role role, Object object, Column column, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   const Oid relation = objectArgument<catalog::regclassIn>(object, scope);
   return catalog::hasColumnPrivilege(scope.snapshot(), roleArgument(role, scope), relation,
                                      columnArgument(column, scope, relation), privilege.view());
}
template <typename Object, typename Column>
std::optional<bool> hasOwnColumn(Object object, Column column, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   const Oid relation = objectArgument<catalog::regclassIn>(object, scope);
   return catalog::hasColumnPrivilege(scope.snapshot(), scope.names().role, relation,
                                      columnArgument(column, scope, relation), privilege.view());
}
template <typename Role, typename Of>
bool hasRole(Role role, Of of, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   return catalog::hasRole(scope.snapshot(), roleArgument(role, scope), roleArgument(of, scope), privilege.view());
}
template <typename Of>
bool hasOwnRole(Of of, const StringView& privilege, KernelEnv& env) {
   const NameScope scope(env.context);
   return catalog::hasRole(scope.snapshot(), scope.names().role, roleArgument(of, scope), privilege.view());
}

/// Null for what is no relation: the policies of a table count for who asks.
std::optional<bool> rowSecurityActive(int64_t relation, KernelEnv& env) {
   const NameScope scope(env.context);
   const auto table = scope.snapshot().relation(oidOf(relation));
   return table ? std::optional(catalog::isRestricted(scope.snapshot(), scope.names().role, *table)) : std::nullopt;
}
std::optional<bool> rowSecurityActiveByName(const StringView& name, KernelEnv& env) {
   return rowSecurityActive(catalog::regclassIn(NameScope(env.context).names(), name.view()), env);
}

// ---- access control lists ----

StringView defaultAcl(const StringView& objectKind, int64_t owner, KernelEnv& env) {
   const auto letter = objectKind.view();
   const auto items = catalog::defaultItems(letter.empty() ? '\0' : letter[0], oidOf(owner));
   if (!items) throw SqlError(sqlstate::internalError, "unrecognized objtype abbreviation: " + std::string(letter));
   return env.copy(catalog::makeAcl(snapshotOf(env), *items));
}
StringView makeAclItem(int64_t grantee, int64_t grantor, const StringView& privilege, bool isGrantable,
                       KernelEnv& env) {
   const uint32_t bit = catalog::requirePrivilege(privilege.view());
   return env.copy(
       catalog::formatAclItem(snapshotOf(env), {oidOf(grantee), oidOf(grantor), bit, isGrantable ? bit : 0}));
}
bool aclContains(const StringView& acl, const StringView& value, KernelEnv& env) {
   const std::vector<catalog::AclItem> items = catalog::readAcl(snapshotOf(env), acl.view());
   const catalog::AclItem wanted = catalog::readAclItem(snapshotOf(env), value.view());
   return std::any_of(items.begin(), items.end(), [&](const catalog::AclItem& item) {
      return item.grantee == wanted.grantee && item.grantor == wanted.grantor &&
             (wanted.privileges & ~item.privileges) == 0 && (wanted.grantOptions & ~item.grantOptions) == 0;
   });
}
[[noreturn]] void throwGone(const char* function) {
   throw SqlError(sqlstate::featureNotSupported, std::string(function) + " is no longer supported");
}
StringView aclInsert(const StringView&, const StringView&) {
   throwGone("aclinsert");
}
StringView aclRemove(const StringView&, const StringView&) {
   throwGone("aclremove");
}

void addAcls() {
   addKernel<defaultAcl>("acldefault_sql");
   addKernel<makeAclItem>("makeaclitem");
   addKernel<aclContains>("aclcontains");
   addKernel<aclInsert>("aclinsert");
   addKernel<aclRemove>("aclremove");
}

void addPrivileges() {
   using Name = const StringView&;
   addPrivilege<catalog::hasTablePrivilege, catalog::regclassIn>("table");
   addPrivilege<catalog::hasSequencePrivilege, catalog::regclassIn>("sequence");
   addPrivilege<catalog::hasAnyColumnPrivilege, catalog::regclassIn>("any_column");
   addPrivilege<catalog::hasSchemaPrivilege, catalog::regnamespaceIn>("schema");
   addPrivilege<catalog::hasDatabasePrivilege, databaseIn>("database");
   addPrivilege<catalog::hasFunctionPrivilege, catalog::regprocedureIn>("function");
   addPrivilege<catalog::hasTypePrivilege, catalog::regtypeIn>("type");
   addPrivilege<catalog::hasLanguagePrivilege, languageIn>("language");
   addPrivilege<catalog::hasTablespacePrivilege, tablespaceIn>("tablespace");
   addPrivilege<catalog::hasServerPrivilege, serverIn>("server");
   addPrivilege<catalog::hasWrapperPrivilege, wrapperIn>("foreign_data_wrapper");
   addKernel<hasOwnColumn<int64_t, int16_t>>("has_column_privilege_id_attnum");
   addKernel<hasOwnColumn<int64_t, Name>>("has_column_privilege_id_name");
   addKernel<hasOwnColumn<Name, int16_t>>("has_column_privilege_name_attnum");
   addKernel<hasOwnColumn<Name, Name>>("has_column_privilege_name_name");
   addKernel<hasColumn<int64_t, int64_t, int16_t>>("has_column_privilege_id_id_attnum");
   addKernel<hasColumn<int64_t, int64_t, Name>>("has_column_privilege_id_id_name");
   addKernel<hasColumn<int64_t, Name, int16_t>>("has_column_privilege_id_name_attnum");
   addKernel<hasColumn<int64_t, Name, Name>>("has_column_privilege_id_name_name");
   addKernel<hasColumn<Name, int64_t, int16_t>>("has_column_privilege_name_id_attnum");
   addKernel<hasColumn<Name, int64_t, Name>>("has_column_privilege_name_id_name");
   addKernel<hasColumn<Name, Name, int16_t>>("has_column_privilege_name_name_attnum");
   addKernel<hasColumn<Name, Name, Name>>("has_column_privilege_name_name_name");
   addKernel<rowSecurityActive>("row_security_active");
   addKernel<rowSecurityActiveByName>("row_security_active_name");
   addKernel<hasOwnRole<int64_t>>("pg_has_role_id");
   addKernel<hasOwnRole<Name>>("pg_has_role_name");
   addKernel<hasRole<int64_t, int64_t>>("pg_has_role_id_id");
   addKernel<hasRole<int64_t, Name>>("pg_has_role_id_name");
   addKernel<hasRole<Name, int64_t>>("pg_has_role_name_id");
   addKernel<hasRole<Name, Name>>("pg_has_role_name_name");
}

void addVisibility() {
   addKernel<isVisible<catalog::isTableVisible>>("pg_table_is_visible");
   addKernel<isVisible<catalog::isTypeVisible>>("pg_type_is_visible");
   addKernel<isVisible<catalog::isFunctionVisible>>("pg_function_is_visible");
   addKernel<isVisible<catalog::isOperatorVisible>>("pg_operator_is_visible");
   addKernel<isVisible<catalog::isCollationVisible>>("pg_collation_is_visible");
   addKernel<isBuiltinVisible<0>>("pg_opclass_is_visible");
   addKernel<isBuiltinVisible<1>>("pg_opfamily_is_visible");
   addKernel<isBuiltinVisible<2>>("pg_conversion_is_visible");
   addKernel<isBuiltinVisible<4>>("pg_ts_config_is_visible");
   addKernel<isBuiltinVisible<5>>("pg_ts_dict_is_visible");
   addKernel<isBuiltinVisible<6>>("pg_ts_parser_is_visible");
   addKernel<isBuiltinVisible<7>>("pg_ts_template_is_visible");
}

void addDefinitions() {
   addKernel<viewDefinition>("pg_get_viewdef");
   addKernel<viewDefinitionPretty>("pg_get_viewdef_ext");
   addKernel<triggerText>("pg_get_triggerdef");
   addKernel<triggerTextPretty>("pg_get_triggerdef_ext");
   addKernel<triggerDepth>("pg_trigger_depth");
   addKernel<rewrittenTable>("pg_event_trigger_table_rewrite_oid");
   addKernel<rewriteReason>("pg_event_trigger_table_rewrite_reason");
   addKernel<ruleText>("pg_get_ruledef");
   addKernel<ruleTextPretty>("pg_get_ruledef_ext");
   addKernel<viewDefinitionWrapped>("pg_get_viewdef_wrap");
   addKernel<namedViewDefinition>("pg_get_viewdef_name");
   addKernel<namedViewDefinitionPretty>("pg_get_viewdef_name_ext");
   addKernel<constraintDefinitionPlain>("pg_get_constraintdef");
   addKernel<constraintDefinition>("pg_get_constraintdef_ext");
   addKernel<indexDefinitionPlain>("pg_get_indexdef");
   addKernel<indexDefinition>("pg_get_indexdef_ext");
   addKernel<expressionTextPlain>("pg_get_expr");
   addKernel<expressionTextPretty>("pg_get_expr_ext");
   addKernel<functionArguments>("pg_get_function_arguments");
   addKernel<functionIdentityArguments>("pg_get_function_identity_arguments");
   addKernel<functionResult>("pg_get_function_result");
   addKernel<functionBody>("pg_get_function_sqlbody");
   addKernel<functionDefinition>("pg_get_functiondef");
   addKernel<argumentDefault>("pg_get_function_arg_default");
   addKernel<serialSequence>("pg_get_serial_sequence");
   addKernel<textOfRelation<catalog::partitionKeyText>>("pg_get_partkeydef");
   addKernel<textOfRelation<catalog::partitionConstraintText>>("pg_get_partition_constraintdef");
   addKernel<partitionRoot>("pg_partition_root");
   addKernel<tablespaceLocation>("pg_tablespace_location");
   addKernels<nothing>({"pg_relation_filepath"});
}

} // namespace

void registerCatalogFunctions() {
   registerObjectFunctions();
   addVisibility();
   addDefinitions();
   addPrivileges();
   addAcls();
   addKernel<formatTypeOf>("format_type");
   addKernel<typesOf>("oidvectortypes");
   addKernel<toOid<catalog::toRegclass>>("to_regclass");
   addKernel<toOid<catalog::toRegtype>>("to_regtype");
   addKernel<toOid<catalog::toRegproc>>("to_regproc");
   addKernel<toOid<catalog::toRegprocedure>>("to_regprocedure");
   addKernel<toOid<catalog::toRegoper>>("to_regoper");
   addKernel<toOid<catalog::toRegoperator>>("to_regoperator");
   addKernel<toOid<catalog::toRegnamespace>>("to_regnamespace");
   addKernel<toOid<catalog::toRegrole>>("to_regrole");
   addKernel<toOid<catalog::toRegcollation>>("to_regcollation");
   addKernel<textRegclass>("text_regclass");
   addKernel<objDescription>("sql:obj_description");
   addKernel<objDescriptionOld>("sql:obj_description");
   addKernel<shobjDescription>("sql:shobj_description");
   addKernel<colDescription>("sql:col_description");
   addKernel<userById>("pg_get_userbyid");
   addKernel<updatable>("pg_relation_is_updatable");
   addKernel<columnUpdatable>("pg_column_is_updatable");
   addKernel<relationSize>("sql:pg_relation_size");
   addKernel<relationForkSize>("pg_relation_size");
   addKernels<relationSize>({"pg_table_size", "pg_total_relation_size"});
   addKernel<databaseSize>("pg_database_size_oid");
   addKernel<databaseSizeByName>("pg_database_size_name");
   addKernel<tablespaceSize>("pg_tablespace_size_oid");
   addKernel<tablespaceSizeByName>("pg_tablespace_size_name");
   addKernel<isPublishable>("pg_relation_is_publishable");
   addKernel<noAtAll>("pg_jit_available");
   addKernel<myTemporarySchema>("pg_my_temp_schema");
   addKernel<isOtherTemporarySchema>("pg_is_other_temp_schema");
}

} // namespace ouzel::executor
