#include <array>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/extensions.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/acl.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/extension_types.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/object/system_relations.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/producers.hpp"
#include "common/type/enum_labels.hpp"

// System catalogs of a cluster's objects (databases, roles, schemas, settings, comments), and of types and functions,
// which have built-in rows and rows from the snapshot.

namespace ouzel::catalog {

namespace {

constexpr Oid defaultTablespace = 1663;
constexpr int32_t utf8Encoding = 6;

void pgDatabase(const SystemContext& context, RowBuilder& row) {
   for (const DatabasePtr& d : context.snapshot.databases()) {
      row.oid(d->oid).text(d->name).oid(d->owner).int4(utf8Encoding).letter(d->localeProvider).boolean(d->isTemplate);
      row.boolean(d->allowsConnections).int4(d->connectionLimit).oid(3).oid(1).oid(defaultTablespace);
      row.text(d->collate)
          .text(d->ctype)
          .textOrNull(d->icuLocale)
          .textOrNull(d->collationVersion)
          .acl(context.snapshot, d->acl)
          .emit();
   }
}

void pgAuthid(const SystemContext& context, RowBuilder& row) {
   for (const RolePtr& r : context.snapshot.roles()) {
      row.oid(r->oid).text(r->name).boolean(r->isSuperuser).boolean(r->inherits).boolean(r->createsRoles);
      row.boolean(r->createsDatabases).boolean(r->canLogin).boolean(r->canReplicate).boolean(r->bypassesRls);
      row.int4(r->connectionLimit).textOrNull(r->verifier).timestamp(r->validUntil).emit();
   }
}

void pgAuthMembers(const SystemContext& context, RowBuilder& row) {
   for (const RolePtr& r : context.snapshot.roles())
      for (const Role::Membership& m : r->memberOf)
         row.oid(m.role).oid(r->oid).oid(m.grantor).boolean(m.isAdmin).emit();
}

void pgNamespace(const SystemContext& context, RowBuilder& row) {
   for (const SchemaPtr& s : context.snapshot.schemas())
      row.oid(s->oid).text(s->name).oid(s->owner).acl(context.snapshot, s->acl).emit();
}

void pgDbRoleSetting(const SystemContext& context, RowBuilder& row) {
   for (const auto& settings : context.snapshot.settings()) {
      std::vector<std::string> config;
      for (const auto& [name, value] : settings->values)
         config.push_back(name + "=" + value);
      row.oid(settings->database).oid(settings->role).textArray(config).emit();
   }
}

void pgDefaultAcl(const SystemContext& context, RowBuilder& row) {
   for (const auto& d : context.snapshot.defaultAcls())
      row.oid(d->oid).oid(d->role).oid(d->schema).letter(d->objects).acl(context.snapshot, Acl(d->acl)).emit();
}

bool isShared(Oid classOid) {
   return classOid == class_oid::pgAuthid || classOid == class_oid::pgDatabase;
}

void pgDescription(const SystemContext& context, RowBuilder& row) {
   const TextTable& table = *builtins().rows("pg_description");
   const uint32_t object = table.column("objoid"), classOid = table.column("classoid"),
                  attribute = table.column("objsubid"), text = table.column("description");
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      row.parsed(table.at(r, object)).parsed(table.at(r, classOid)).parsed(table.at(r, attribute));
      row.parsed(table.at(r, text)).emit();
   }
   const TextTable& ours = *builtins().rows("ouzel_proc");
   for (uint32_t r = 0; r < ours.rowCount(); ++r)
      row.parsed(ours.at(r, ours.column("oid")))
          .oid(class_oid::pgProc)
          .int4(0)
          .parsed(ours.at(r, ours.column("description")))
          .emit();
   row.oid(s3Extension).oid(class_oid::pgExtension).int4(0).text(findExtensionInfo("s3")->comment).emit();
   for (const auto& comment : context.snapshot.comments())
      if (!isShared(comment->object.b))
         row.oid(comment->object.c).oid(comment->object.b).int4(comment->object.d).text(comment->text).emit();
}

void pgShdescription(const SystemContext& context, RowBuilder& row) {
   for (const auto& comment : context.snapshot.comments())
      if (isShared(comment->object.b)) row.oid(comment->object.c).oid(comment->object.b).text(comment->text).emit();
}

void staticRows(std::string_view catalog, RowBuilder& row) {
   const TextTable& table = *builtins().rows(catalog);
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      for (uint32_t column = 0; column < table.columnCount(); ++column)
         row.parsed(table.at(r, column));
      row.emit();
   }
}

/// How values of a relation's type are aligned in PostgreSQL's tables.
char alignmentOf(const Snapshot& snapshot, const Relation& r) {
   if (r.relationKind == RelationKind::Enum) return 'i';
   if (!r.isOnlyType()) return 'd';
   const RelationPtr range =
       r.relationKind == RelationKind::Multirange ? snapshot.relationOfType(r.range->partner) : nullptr;
   const TypeInfo* made = builtins().type((range ? *range : r).columns[0].type.oid);
   if (r.relationKind == RelationKind::Domain && made) return made->alignment;
   return made && made->alignment != 'd' ? 'i' : 'd';
}

/// The pg_type row of a relation's composite type or of its array type, as PostgreSQL makes it with the relation.
void rowTypeRow(const Snapshot& snapshot, const Relation& r, bool isArray, RowBuilder& row) {
   row.oid(isArray ? r.rowTypeArray : r.rowType).text(isArray ? "_" + r.name : r.name).oid(r.schema).oid(r.owner);
   row.int2(-1).boolean(false).letter(isArray ? 'b' : 'c').letter(isArray ? 'A' : 'C').boolean(false).boolean(true);
   row.letter(',').oid(isArray ? invalidOid : r.oid).oid(isArray ? 6179 : 0).oid(isArray ? r.rowType : invalidOid);
   row.oid(isArray ? invalidOid : r.rowTypeArray);
   // OIDs of array_in, array_out, ... or record_in, record_out, ...
   if (isArray)
      row.oid(750).oid(751).oid(2400).oid(2401).oid(0).oid(0).oid(3816);
   else
      row.oid(2290).oid(2291).oid(2402).oid(2403).oid(0).oid(0).oid(0);
   row.letter(alignmentOf(snapshot, r) == 'd' ? 'd' : 'i').letter('x').boolean(false).oid(0).int4(-1).int4(0);
   row.oid(isArray && r.relationKind == RelationKind::Domain ? r.columns[0].type.collation : Oid{invalidOid});
   row.nulls(2).acl(snapshot, !isArray && isUserType(r) ? r.acl : Acl()).emit();
}

void domainRow(const SystemContext& context, const Relation& r, RowBuilder& row) {
   const Snapshot& snapshot = context.snapshot;
   const Column& value = r.columns[0];
   const TypeInfo* base = builtins().type(value.type.oid);
   const bool isArray = builtins().isArray(value.type.oid);
   row.oid(r.rowType).text(r.name).oid(r.schema).oid(r.owner).int2(base ? base->length : -1);
   row.boolean(base && base->byValue).letter('d').letter(base ? base->category : isArray ? 'A' : 'C');
   row.boolean(base && base->isPreferred).boolean(true).letter(base ? base->delimiter : ',').oid(0).oid(0).oid(0);
   // OIDs of domain_in and domain_recv; the output functions are the base type's.
   row.oid(r.rowTypeArray).oid(2597).oid(base ? base->output : isArray ? 751 : 2291).oid(2598);
   row.oid(base ? base->send : isArray ? 2401 : 2403).oid(0).oid(0).oid(0);
   row.letter(base ? base->alignment : 'd').letter(base ? base->storage : 'x').boolean(value.notNull);
   row.oid(value.type.named()).int4(value.type.domain ? -1 : value.type.typmod).int4(value.dimensions);
   row.oid(value.type.collation);
   const bool isShown = value.hasDefault() && context.state != nullptr && row.wants("typdefault");
   row.textOrNull(value.hasDefault() ? defaultText(value) : std::string());
   row.textOrNull(isShown ? context.state->defaultOf(r) : value.defaultExpr).acl(snapshot, r.acl).emit();
}

void enumRow(const Snapshot& snapshot, const Relation& r, RowBuilder& row) {
   row.oid(r.rowType).text(r.name).oid(r.schema).oid(r.owner).int2(4).boolean(true).letter('e').letter('E');
   row.boolean(false).boolean(true).letter(',').oid(0).oid(0).oid(0).oid(r.rowTypeArray);
   row.oid(3506).oid(3507).oid(3532).oid(3533).oid(0).oid(0).oid(0); // enum_in, enum_out, enum_recv, enum_send
   row.letter('i').letter('p').boolean(false).oid(0).int4(-1).int4(0).oid(0).nulls(2).acl(snapshot, r.acl).emit();
}

void shellRow(const Snapshot& snapshot, const Relation& r, RowBuilder& row) {
   row.oid(r.rowType).text(r.name).oid(r.schema).oid(r.owner).int2(4).boolean(true).letter('p').letter('P');
   row.boolean(false).boolean(false).letter(',').oid(0).oid(0).oid(0).oid(0);
   row.oid(2398).oid(2399).oid(0).oid(0).oid(0).oid(0).oid(0); // shell_in, shell_out
   row.letter('i').letter('p').boolean(false).oid(0).int4(-1).int4(0).oid(0).nulls(2).acl(snapshot, r.acl).emit();
}

void rangeRow(const Snapshot& snapshot, const Relation& r, RowBuilder& row) {
   const bool isRange = r.relationKind == RelationKind::Range;
   row.oid(r.rowType).text(r.name).oid(r.schema).oid(r.owner).int2(-1).boolean(false).letter(isRange ? 'r' : 'm');
   row.letter('R').boolean(false).boolean(true).letter(',').oid(0).oid(0).oid(0).oid(r.rowTypeArray);
   // range_in, range_out, range_recv, range_send and range_typanalyze, or those of multiranges
   if (isRange)
      row.oid(3834).oid(3835).oid(3836).oid(3837).oid(0).oid(0).oid(3916);
   else
      row.oid(4231).oid(4232).oid(4233).oid(4234).oid(0).oid(0).oid(4242);
   row.letter(alignmentOf(snapshot, r))
       .letter('x')
       .boolean(false)
       .oid(0)
       .int4(-1)
       .int4(0)
       .oid(0)
       .nulls(2)
       .acl(snapshot, r.acl)
       .emit();
}

void pgRange(const SystemContext& context, RowBuilder& row) {
   staticRows("pg_range", row);
   for (const RelationPtr& r : context.snapshot.relations()) {
      if (r->relationKind != RelationKind::Range) continue;
      const SqlType& subtype = r->columns[0].type;
      row.oid(r->rowType).oid(subtype.named()).oid(r->range->partner).oid(subtype.collation);
      row.oid(r->range->operatorClass).oid(0).oid(r->range->difference).emit();
   }
}

void pgEnum(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : context.snapshot.relations()) {
      if (!r->labels) continue;
      for (const EnumLabel& label : r->labels->inOrder())
         row.oid(label.oid).oid(r->rowType).float4(static_cast<double>(label.sortOrder)).text(label.name).emit();
   }
}

/// The function that an extension's script has made; `builtin`: there is none of the name.
Oid functionOfScript(const Snapshot& snapshot, Oid schema, std::string_view name, Oid argument, Oid builtin) {
   const FunctionPtr function = name.empty() ? nullptr : snapshot.findFunction(schema, name, std::array{argument});
   return function ? function->oid : builtin;
}

/// The types of the extensions that the database has.
void extensionTypeRows(const Snapshot& snapshot, RowBuilder& row) {
   for (const ExtensionType& made : extensionTypes()) {
      const ExtensionPtr extension = snapshot.findExtension(made.extension);
      for (const TypeInfo& type : {made.type, made.array}) {
         if (!extension) break;
         const bool isArray = type.oid == made.array.oid;
         const auto function = [&](std::string_view name, Oid argument, Oid builtin) {
            return isArray ? builtin : functionOfScript(snapshot, extension->schema, name, argument, builtin);
         };
         row.oid(type.oid).text(type.name).oid(extension->schema).oid(bootstrapRole).int2(type.length).boolean(false);
         row.letter(static_cast<char>(type.kind)).letter(type.category).boolean(false).boolean(true).letter(',').oid(0);
         row.oid(function(made.subscript, oid::internal, type.subscript)).oid(type.element).oid(type.array);
         row.oid(function(made.input, oid::cstring, type.input)).oid(function(made.output, type.oid, type.output));
         row.oid(function(made.receive, oid::internal, type.receive)).oid(function(made.send, type.oid, type.send));
         row.oid(type.typmodIn).oid(0).oid(0).letter(type.alignment).letter(type.storage).boolean(false).oid(0);
         row.int4(-1).int4(0).oid(type.collation).nulls(3).emit();
      }
   }
}

void pgType(const SystemContext& context, RowBuilder& row) {
   const WantedRows* range = context.wants("oid");
   if (range == nullptr || range->lower < firstUserOid) {
      staticRows("pg_type", row);
      extensionTypeRows(context.snapshot, row);
   }
   if (range != nullptr && range->upper < firstUserOid) return;
   for (const RelationPtr& r : ownRelations(context, "typrelid")) {
      if (r->rowType == invalidOid) continue;
      if (r->relationKind == RelationKind::Domain)
         domainRow(context, *r, row);
      else if (r->relationKind == RelationKind::Enum)
         enumRow(context.snapshot, *r, row);
      else if (r->relationKind == RelationKind::Shell)
         shellRow(context.snapshot, *r, row);
      else if (r->range)
         rangeRow(context.snapshot, *r, row);
      else
         rowTypeRow(context.snapshot, *r, false, row);
      if (r->rowTypeArray != invalidOid) rowTypeRow(context.snapshot, *r, true, row);
   }
}

/// What a new database has granted, which pg_dump leaves out. As in PostgreSQL, information_schema is not in it.
void pgInitPrivs(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : systemRelations())
      if (r->schema == pgCatalogSchema)
         row.oid(r->oid).oid(class_oid::pgClass).int4(0).letter('i').acl(context.snapshot, r->acl).emit();
   for (const Oid function : functionsWithInitialAcl())
      row.oid(function)
          .oid(class_oid::pgProc)
          .int4(0)
          .letter('i')
          .acl(context.snapshot, initialAcl(class_oid::pgProc, function))
          .emit();
   const auto schema = [&](Oid oid, Oid owner) {
      const Acl initial({{owner, owner, aclRules(AclKind::Schema).all, 0}, {invalidOid, owner, privilege::usage, 0}});
      row.oid(oid).oid(class_oid::pgNamespace).int4(0).letter('i').acl(context.snapshot, initial).emit();
   };
   schema(pgCatalogSchema, bootstrapRole);
   if (context.snapshot.schema(publicSchema)) schema(publicSchema, databaseOwnerRole);
}

constexpr NamedProducer tables[] = {
    {"pg_init_privs", pgInitPrivs},
    {"pg_database", pgDatabase},
    {"pg_authid", pgAuthid},
    {"pg_auth_members", pgAuthMembers},
    {"pg_namespace", pgNamespace},
    {"pg_default_acl", pgDefaultAcl},
    {"pg_db_role_setting", pgDbRoleSetting},
    {"pg_description", pgDescription},
    {"pg_shdescription", pgShdescription},
    {"pg_type", pgType},
    {"pg_enum", pgEnum},
    {"pg_range", pgRange},
};

} // namespace

std::span<const NamedProducer> clusterProducers() {
   return tables;
}

} // namespace ouzel::catalog
