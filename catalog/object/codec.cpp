#include "catalog/object/codec.hpp"

#include <bit>
#include <cstring>

#include "catalog/object/coder.hpp"
#include "catalog/object/collation_coder.hpp"
#include "catalog/object/extension_coder.hpp"
#include "catalog/object/field_coder.hpp"
#include "catalog/object/foreign/foreign_coder.hpp"
#include "catalog/object/function_coder.hpp"
#include "catalog/object/initial_databases.hpp"
#include "catalog/object/large_object_coder.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/operator_coder.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/publication_coder.hpp"
#include "catalog/object/statistics_coder.hpp"
#include "catalog/object/text_search/text_search_coder.hpp"
#include "common/error/format_version.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/enum_labels.hpp"

// The byte form of catalog objects, in the log and in the catalog image.
//
//   snapshot:  "OZCS" version:u16 count:varint object*
//   changes:   "OZCC" version:u16 count:varint change*
//   change:    key, isPresent:u8, object if present
//   object:    kind:u8, then its fields in the order of `fields(...)` below
//   field:     integers as zigzag varints, booleans and characters as one byte, strings as length and bytes,
//              lists as count and elements, optionals as a byte and the value
//
// A later version appends fields at the end of a list and reads them only if the bytes have that version: see has().
//
//   2: a column's relationsInDefault, sequences only
//   3: relationsInDefault and a view's dependsOn have all relations that are named as regclass constants, and the texts
//      have OIDs for them
//   4: a type's domain
//   5: predefined roles are members of others
//   6: row-level security, default privileges, foreign servers
//   7: partitions and inheritance, labels of enums
//   8: extended statistics, users' range types, typed tables, collations; included columns, expressions and operator
//      classes of indexes and partition keys; the locale of a database
//   9: functions of users
//   10: triggers; aggregates, operators and casts of users
//   11: event triggers, extensions
//   12: what functions call; the columns that ON DELETE SET NULL or DEFAULT sets
//   13: large objects
//   14: foreign-data wrappers, foreign tables
//   15: privileges of built-in objects
//   16: foreign keys that DISABLE TRIGGER ALL has suspended; storage, compression and statistics targets of columns
//   17: objects of full text search
//   18: options of columns
//   19: publications, replica identities
//   20: languages, shell types, handlers of foreign-data wrappers

namespace ouzel::catalog {

namespace {

constexpr uint16_t formatVersion = 20, completeSince = 3;
constexpr std::string_view snapshotMagic = "OZCS", changesMagic = "OZCC";

// One list of fields per type for both directions: `coder` is a Writer over const objects, or a Reader.

template <typename Coder, typename T>
void key(Coder& coder, T& value) {
   coder(value.kind);
   coder(value.a);
   coder(value.b);
   coder(value.c);
   coder(value.d);
}

template <typename Coder, typename T>
void databaseFields(Coder& coder, T& database) {
   coder(database.oid);
   coder(database.name);
   coder(database.owner);
   coder(database.isTemplate);
   coder(database.allowsConnections);
   coder(database.connectionLimit);
   acl(coder, database.acl);
   if (!coder.has(8)) return;
   coder(database.localeProvider);
   coder(database.icuLocale);
   coder(database.collate);
   coder(database.ctype);
   coder(database.collationVersion);
   if (!coder.has(11)) return;
   structures(coder, database.eventTriggers, [&](auto& trigger) {
      coder(trigger.oid);
      coder(trigger.name);
      coder(trigger.owner);
      coder(trigger.event);
      coder(trigger.function);
      coder(trigger.enabled);
      elements(coder, trigger.tags);
   });
   if (!coder.has(19)) return;
   structures(coder, database.publications, [&](auto& publication) { publicationFields(coder, publication); });
   if (!coder.has(20)) return;
   structures(coder, database.languages, [&](auto& language) {
      coder(language.oid);
      coder(language.name);
      coder(language.owner);
      coder(language.isTrusted);
      coder(language.inlineHandler);
      coder(language.validator);
      acl(coder, language.acl);
   });
}
template <typename Coder, typename T>
void roleFields(Coder& coder, T& role) {
   coder(role.oid);
   coder(role.name);
   coder(role.isSuperuser);
   coder(role.inherits);
   coder(role.createsRoles);
   coder(role.createsDatabases);
   coder(role.canLogin);
   coder(role.canReplicate);
   coder(role.bypassesRls);
   coder(role.connectionLimit);
   coder(role.verifier);
   optional(coder, role.validUntil, [&](auto& until) { coder(until); });
   structures(coder, role.memberOf, [&](auto& membership) {
      coder(membership.role);
      coder(membership.isAdmin);
      coder(membership.grantor);
   });
}
template <typename Coder, typename T>
void schemaFields(Coder& coder, T& schema) {
   coder(schema.database);
   coder(schema.oid);
   coder(schema.name);
   coder(schema.owner);
   acl(coder, schema.acl);
}
template <typename Coder, typename T>
void columnFields(Coder& coder, T& column) {
   coder(column.name);
   coder(column.attribute);
   type(coder, column.type);
   coder(column.notNull);
   coder(column.isDropped);
   coder(column.defaultExpr);
   coder(column.defaultOid);
   coder(column.defaultSequence);
   coder(column.identity);
   coder(column.generated);
   coder(column.dimensions);
   acl(coder, column.acl);
   if (coder.has(2)) elements(coder, column.relationsInDefault);
   if (!coder.has(7)) return;
   coder(column.parentCount);
   coder(column.isLocal);
   if (!coder.has(16)) return;
   coder(column.storage);
   coder(column.compression);
   coder(column.statisticsTarget);
   if (coder.has(18)) elements(coder, column.options);
}
template <typename Coder, typename T>
void constraintFields(Coder& coder, T& constraint) {
   coder(constraint.oid);
   coder(constraint.name);
   coder(constraint.kind);
   elements(coder, constraint.columns);
   coder(constraint.expression);
   coder(constraint.kind == ConstraintKind::ForeignKey ? constraint.referencedIndex : constraint.index);
   coder(constraint.foreignRelation);
   elements(coder, constraint.foreignColumns);
   coder(constraint.onUpdate);
   coder(constraint.onDelete);
   coder(constraint.match);
   coder(constraint.isDeferrable);
   coder(constraint.isInitiallyDeferred);
   coder(constraint.isValidated);
   coder(constraint.noInherit);
   if (!coder.has(7)) return;
   coder(constraint.parentCount);
   coder(constraint.isLocal);
   coder(constraint.parentConstraint);
   if (coder.has(12)) elements(coder, constraint.setColumns);
   if (!coder.has(16)) return;
   coder(constraint.mindsReferencing);
   coder(constraint.mindsReferenced);
}
template <typename Coder, typename T>
void indexFields(Coder& coder, T& index) {
   coder(index.table);
   coder(index.isUnique);
   coder(index.isPrimary);
   coder(index.nullsNotDistinct);
   elements(coder, index.columns);
   elements(coder, index.expressions);
   elements(coder, index.options);
   coder(index.predicate);
   coder(index.method);
   if (!coder.has(7)) return;
   coder(index.isPartitioned);
   coder(index.parentIndex);
   if (!coder.has(8)) return;
   elements(coder, index.included);
   elements(coder, index.reads);
   elements(coder, index.classes);
   elements(coder, index.operators);
   coder(index.hasCollationKeys);
   coder(index.isClustered);
}
template <typename Coder, typename T>
void partitionKeyFields(Coder& coder, T& partitionKey) {
   coder(partitionKey.strategy);
   elements(coder, partitionKey.columns);
   elements(coder, partitionKey.collations);
   if (!coder.has(8)) return;
   elements(coder, partitionKey.expressions);
   structures(coder, partitionKey.types, [&](auto& one) { type(coder, one); });
   elements(coder, partitionKey.reads);
   elements(coder, partitionKey.classes);
}
template <typename Coder, typename T>
void partitionData(Coder& coder, T& data) {
   structures(coder, data, [&](auto& datum) {
      coder(datum.kind);
      coder(datum.text);
      coder(datum.key);
   });
}
template <typename Coder, typename T>
void boundFields(Coder& coder, T& bound) {
   coder(bound.strategy);
   coder(bound.isDefault);
   partitionData(coder, bound.values);
   partitionData(coder, bound.lower);
   partitionData(coder, bound.upper);
   coder(bound.modulus);
   coder(bound.remainder);
}
template <typename Coder, typename T>
void sequenceFields(Coder& coder, T& sequence) {
   type(coder, sequence.type);
   coder(sequence.start);
   coder(sequence.increment);
   coder(sequence.minimum);
   coder(sequence.maximum);
   coder(sequence.cache);
   coder(sequence.cycles);
   coder(sequence.ownerRelation);
   coder(sequence.ownerAttribute);
   coder(sequence.isIdentity);
}
template <typename Coder, typename T>
void dependencies(Coder& coder, T& values) {
   structures(coder, values, [&](auto& dependency) {
      coder(dependency.relation);
      coder(dependency.attribute);
   });
}
template <typename Coder, typename T>
void policyFields(Coder& coder, T& policy) {
   coder(policy.oid);
   coder(policy.name);
   coder(policy.command);
   coder(policy.isPermissive);
   elements(coder, policy.roles);
   coder(policy.tableName);
   coder(policy.usingExpr);
   coder(policy.checkExpr);
   dependencies(coder, policy.dependsOn);
}
template <typename Coder, typename T>
void ruleFields(Coder& coder, T& rule) {
   coder(rule.oid);
   coder(rule.name);
   coder(rule.event);
   coder(rule.isInstead);
   coder(rule.enabled);
   coder(rule.condition);
   elements(coder, rule.actions);
   dependencies(coder, rule.dependsOn);
}
template <typename Coder, typename T>
void triggerFields(Coder& coder, T& trigger) {
   coder(trigger.oid);
   coder(trigger.name);
   coder(trigger.function);
   coder(trigger.type);
   coder(trigger.enabled);
   coder(trigger.constraint);
   coder(trigger.constraintRelation);
   coder(trigger.isDeferrable);
   coder(trigger.isDeferred);
   elements(coder, trigger.columns);
   elements(coder, trigger.arguments);
   coder(trigger.condition);
   dependencies(coder, trigger.dependsOn);
   coder(trigger.oldTable);
   coder(trigger.newTable);
   coder(trigger.parent);
}
template <typename Coder, typename T>
void enumLabels(Coder& coder, T& labels) {
   std::vector<EnumLabel> inOrder;
   if constexpr (!Coder::isReading) inOrder = labels->inOrder();
   structures(coder, inOrder, [&](auto& label) {
      coder(label.name);
      coder(label.code);
      coder(label.oid);
      auto order = std::bit_cast<uint32_t>(label.sortOrder);
      coder(order);
      label.sortOrder = std::bit_cast<float>(order);
      coder(label.isAdded);
   });
   if constexpr (Coder::isReading) labels = std::make_shared<const EnumLabels>(std::move(inOrder));
}
template <typename Coder, typename T>
void relationFields(Coder& coder, T& relation) {
   coder(relation.database);
   coder(relation.oid);
   coder(relation.schema);
   coder(relation.name);
   coder(relation.relationKind);
   coder(relation.shownKind);
   coder(relation.persistence);
   coder(relation.owner);
   coder(relation.rowType);
   coder(relation.rowTypeArray);
   coder(relation.storage);
   structures(coder, relation.columns, [&](auto& column) { columnFields(coder, column); });
   structures(coder, relation.constraints, [&](auto& constraint) { constraintFields(coder, constraint); });
   coder(relation.definition);
   dependencies(coder, relation.dependsOn);
   optional(coder, relation.index, [&](auto& index) { indexFields(coder, index); });
   optional(coder, relation.sequence, [&](auto& sequence) { sequenceFields(coder, sequence); });
   elements(coder, relation.options);
   coder(relation.onCommit);
   acl(coder, relation.acl);
   if (!coder.has(6)) return;
   coder(relation.hasRowSecurity);
   coder(relation.forcesRowSecurity);
   structures(coder, relation.policies, [&](auto& policy) { policyFields(coder, policy); });
   if (!coder.has(7)) return;
   optional(coder, relation.partitionKey, [&](auto& partitionKey) { partitionKeyFields(coder, partitionKey); });
   elements(coder, relation.parents);
   optional(coder, relation.bound, [&](auto& bound) { boundFields(coder, bound); });
   if (relation.relationKind == RelationKind::Enum) enumLabels(coder, relation.labels);
   coder(relation.isPopulated);
   if (!coder.has(8)) return;
   optional(coder, relation.range, [&](auto& range) {
      coder(range.partner);
      coder(range.operatorClass);
      coder(range.difference);
   });
   coder(relation.ofType);
   structures(coder, relation.rules, [&](auto& rule) { ruleFields(coder, rule); });
   if (!coder.has(10)) return;
   structures(coder, relation.triggers, [&](auto& trigger) { triggerFields(coder, trigger); });
   if (coder.has(14)) foreignTableFields(coder, relation);
   if (!coder.has(19)) return;
   coder(relation.replicaIdentity);
   coder(relation.identityIndex);
}
template <typename Coder, typename T>
void commentFields(Coder& coder, T& comment) {
   key(coder, comment.object);
   coder(comment.text);
}
template <typename Coder, typename T>
void settingsFields(Coder& coder, T& settings) {
   coder(settings.database);
   coder(settings.role);
   pairs(coder, settings.values);
}
template <typename Coder, typename T>
void defaultAclFields(Coder& coder, T& defaults) {
   coder(defaults.database);
   coder(defaults.oid);
   coder(defaults.role);
   coder(defaults.schema);
   coder(defaults.objects);
   aclItems(coder, defaults.acl);
}
template <typename Coder, typename T>
void systemAclFields(Coder& coder, T& privileges) {
   coder(privileges.database);
   coder(privileges.classOid);
   coder(privileges.object);
   aclItems(coder, privileges.acl);
}
template <typename Coder, typename T>
void serverFields(Coder& coder, T& server) {
   coder(server.database);
   coder(server.oid);
   coder(server.name);
   coder(server.owner);
   acl(coder, server.acl);
   coder(server.type);
   coder(server.version);
   pairs(coder, server.options);
   structures(coder, server.mappings, [&](auto& mapping) {
      coder(mapping.oid);
      coder(mapping.role);
      pairs(coder, mapping.options);
   });
   if (coder.has(14)) coder(server.wrapper);
}

template <typename Coder, typename T>
void preparedTransactionFields(Coder& coder, T& prepared) {
   coder(prepared.oid);
   coder(prepared.database);
   coder(prepared.owner);
   coder(prepared.name);
   coder(prepared.preparedAt);
   structures(coder, prepared.locks, [&](auto& lock) {
      coder(lock.kind);
      coder(lock.mode);
      coder(lock.object);
      coder(lock.detail);
   });
   coder(prepared.writes);
   if (coder.has(13)) coder(prepared.objects);
}

void writeObject(Writer& writer, const CatalogObject& object) {
   writer(object.kind);
   switch (object.kind) {
   case ObjectKind::Database: return databaseFields(writer, static_cast<const Database&>(object));
   case ObjectKind::Role: return roleFields(writer, static_cast<const Role&>(object));
   case ObjectKind::Schema: return schemaFields(writer, static_cast<const Schema&>(object));
   case ObjectKind::Relation: return relationFields(writer, static_cast<const Relation&>(object));
   case ObjectKind::Comment: return commentFields(writer, static_cast<const Comment&>(object));
   case ObjectKind::Settings: return settingsFields(writer, static_cast<const Settings&>(object));
   case ObjectKind::DefaultAcl: return defaultAclFields(writer, static_cast<const DefaultAcl&>(object));
   case ObjectKind::SystemAcl: return systemAclFields(writer, static_cast<const SystemAcl&>(object));
   case ObjectKind::Server: return serverFields(writer, static_cast<const ForeignServer&>(object));
   case ObjectKind::ForeignWrapper:
      return foreignWrapperFields(writer, static_cast<const ForeignWrapper&>(object),
                                  [](auto& coder, auto& value) { acl(coder, value); });
   case ObjectKind::Statistics: return statisticsFields(writer, static_cast<const Statistics&>(object));
   case ObjectKind::Collation: return collationFields(writer, static_cast<const Collation&>(object));
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: return textSearchFields(writer, static_cast<const TextSearchObject&>(object));
   case ObjectKind::Function:
      return functionFields(writer, static_cast<const FunctionDefinition&>(static_cast<const Function&>(object)));
   case ObjectKind::Operator:
      return operatorFields(writer, static_cast<const OperatorDefinition&>(static_cast<const Operator&>(object)));
   case ObjectKind::Cast: return castFields(writer, static_cast<const Cast&>(object));
   case ObjectKind::Extension: return extensionFields(writer, static_cast<const Extension&>(object));
   case ObjectKind::LargeObject:
      return largeObjectFields(writer, static_cast<const LargeObject&>(object),
                               [](auto& coder, auto& value) { acl(coder, value); });
   case ObjectKind::LargeObjectPages:
      return largeObjectPagesFields(writer, static_cast<const LargeObjectPages&>(object));
   case ObjectKind::PreparedTransaction:
      return preparedTransactionFields(writer, static_cast<const PreparedTransaction&>(object));
   }
}

template <typename T, typename Fields>
ObjectPtr readAs(Reader& reader, Fields&& fields) {
   auto object = std::make_shared<T>();
   fields(reader, *object);
   return object;
}

ObjectPtr readObject(Reader& reader) {
   ObjectKind kind;
   reader(kind);
   switch (kind) {
   case ObjectKind::Database:
      return readAs<Database>(reader, [](auto& r, auto& o) {
         databaseFields(r, o);
         if (!o.acl) o.acl = initialAclOf(o.oid); // an earlier version had none
      });
   case ObjectKind::Role:
      return readAs<Role>(reader, [](auto& r, auto& o) {
         roleFields(r, o);
         if (!r.has(5) && o.memberOf.empty()) o.memberOf = predefinedMemberships(o.oid);
      });
   case ObjectKind::Schema: return readAs<Schema>(reader, [](auto& r, auto& o) { schemaFields(r, o); });
   case ObjectKind::Relation:
      return readAs<Relation>(reader, [](auto& r, auto& o) {
         relationFields(r, o);
         const bool isShell = o.relationKind == RelationKind::Shell;
         o.rowTypeArray = isShell ? Oid{invalidOid} : arrayTypeOf(o.rowType); // an earlier version gave it any OID
      });
   case ObjectKind::Comment: return readAs<Comment>(reader, [](auto& r, auto& o) { commentFields(r, o); });
   case ObjectKind::Settings: return readAs<Settings>(reader, [](auto& r, auto& o) { settingsFields(r, o); });
   case ObjectKind::DefaultAcl: return readAs<DefaultAcl>(reader, [](auto& r, auto& o) { defaultAclFields(r, o); });
   case ObjectKind::SystemAcl: return readAs<SystemAcl>(reader, [](auto& r, auto& o) { systemAclFields(r, o); });
   case ObjectKind::Server: return readAs<ForeignServer>(reader, [](auto& r, auto& o) { serverFields(r, o); });
   case ObjectKind::ForeignWrapper:
      return readAs<ForeignWrapper>(reader, [](auto& r, auto& o) {
         foreignWrapperFields(r, o, [](auto& coder, auto& value) { acl(coder, value); });
      });
   case ObjectKind::Statistics: return readAs<Statistics>(reader, [](auto& r, auto& o) { statisticsFields(r, o); });
   case ObjectKind::Collation: return readAs<Collation>(reader, [](auto& r, auto& o) { collationFields(r, o); });
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: {
      auto object = std::make_shared<TextSearchObject>(kind);
      textSearchFields(reader, *object);
      return object;
   }
   case ObjectKind::Function: {
      FunctionDefinition definition;
      functionFields(reader, definition);
      return std::make_shared<const Function>(std::move(definition));
   }
   case ObjectKind::Operator: {
      OperatorDefinition definition;
      operatorFields(reader, definition);
      return std::make_shared<const Operator>(std::move(definition));
   }
   case ObjectKind::Cast: return readAs<Cast>(reader, [](auto& r, auto& o) { castFields(r, o); });
   case ObjectKind::Extension: return readAs<Extension>(reader, [](auto& r, auto& o) { extensionFields(r, o); });
   case ObjectKind::LargeObject:
      return readAs<LargeObject>(reader, [](auto& r, auto& o) {
         largeObjectFields(r, o, [](auto& coder, auto& value) { acl(coder, value); });
      });
   case ObjectKind::LargeObjectPages:
      return readAs<LargeObjectPages>(reader, [](auto& r, auto& o) { largeObjectPagesFields(r, o); });
   case ObjectKind::PreparedTransaction:
      return readAs<PreparedTransaction>(reader, [](auto& r, auto& o) { preparedTransactionFields(r, o); });
   }
   Reader::damaged();
}

void writeHeader(Writer& writer, std::string_view magic, uint64_t count) {
   writer.raw(magic);
   writer.raw(std::string{static_cast<char>(formatVersion & 0xff), static_cast<char>(formatVersion >> 8)});
   writer.varint(count);
}

int readVersion(Reader& reader, std::string_view magic) {
   if (reader.raw(magic.size()) != magic) Reader::damaged();
   const std::string_view bytes = reader.raw(2);
   const int version = static_cast<uint8_t>(bytes[0]) | static_cast<uint8_t>(bytes[1]) << 8;
   if (version < 1) Reader::damaged();
   return version;
}

uint64_t readHeader(Reader& reader, std::string_view magic) {
   const int version = readVersion(reader, magic);
   if (version > formatVersion) throwUnknownFormat("The catalog", static_cast<uint64_t>(version), formatVersion);
   reader.setVersion(version);
   return reader.varint();
}

} // namespace

bool isComplete(std::string_view bytes) {
   Reader reader(bytes);
   return readVersion(reader, bytes.starts_with(changesMagic) ? changesMagic : snapshotMagic) >= completeSince;
}

std::string encodeSnapshot(const Snapshot& snapshot) {
   const std::vector<ObjectPtr> objects = snapshot.allObjects();
   Writer writer;
   writeHeader(writer, snapshotMagic, objects.size());
   for (const ObjectPtr& object : objects)
      writeObject(writer, *object);
   return writer.take();
}

Snapshot decodeSnapshot(std::string_view bytes) {
   Reader reader(bytes);
   std::vector<Change> changes;
   for (uint64_t count = readHeader(reader, snapshotMagic); count > 0; --count) {
      ObjectPtr object = readObject(reader);
      changes.push_back({keyOf(*object), nullptr, std::move(object)});
   }
   if (!reader.atEnd()) Reader::damaged();
   return Snapshot().apply(changes).inDatabase(postgresDatabase);
}

std::string encodeChanges(std::span<const Change> changes) {
   Writer writer;
   writeHeader(writer, changesMagic, changes.size());
   for (const Change& change : changes) {
      key(writer, change.key);
      const bool isPresent = change.after != nullptr;
      writer(isPresent);
      if (isPresent) writeObject(writer, *change.after);
   }
   return writer.take();
}

std::vector<Change> decodeChanges(std::string_view bytes) {
   Reader reader(bytes);
   std::vector<Change> changes;
   for (uint64_t count = readHeader(reader, changesMagic); count > 0; --count) {
      Change change{ObjectKey{ObjectKind::Comment}, nullptr, nullptr};
      key(reader, change.key);
      bool isPresent;
      reader(isPresent);
      if (isPresent) {
         change.after = readObject(reader);
         if (keyOf(*change.after) != change.key) Reader::damaged();
      }
      changes.push_back(std::move(change));
   }
   if (!reader.atEnd()) Reader::damaged();
   return changes;
}

} // namespace ouzel::catalog
