#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/dependency.hpp"
#include "catalog/object/event_trigger.hpp"
#include "catalog/object/partition.hpp"
#include "catalog/object/publication.hpp"
#include "catalog/object/rule.hpp"
#include "catalog/object/trigger.hpp"
#include "common/value/sql_type.hpp"
#include "storage/base/ids.hpp"

namespace ouzel {
class EnumLabels; // common/type/enum_labels.hpp
}

// The objects of a catalog snapshot. An object is immutable once it is in a snapshot, and all snapshots with the object
// share it. So two snapshots with the same pointer have the same state of the object.

namespace ouzel::catalog {

using storage::StorageId;
inline constexpr StorageId noStorage{0}; ///< views, virtual tables

enum class ObjectKind : uint8_t {
   Database = 1,
   Role = 2,
   Schema = 3,
   Relation = 4,
   Comment = 5,
   Settings = 6,
   DefaultAcl = 7,
   Server = 8,
   Statistics = 9,
   Collation = 10,
   PreparedTransaction = 11,
   Function = 12,
   Operator = 14,
   Cast = 15,
   Extension = 16,
   LargeObject = 17,
   LargeObjectPages = 18,
   ForeignWrapper = 19,
   SystemAcl = 20,
   TextSearchConfiguration = 21,
   TextSearchDictionary = 22,
   TextSearchParser = 23,
   TextSearchTemplate = 24
};

/// Identifies an object in the whole cluster. Meaning of the parts by kind:
///   Database, Role, Relation, Server, ForeignWrapper, Statistics, PreparedTransaction  a = OID
///   Schema, Collation, Function, Operator, Cast, Extension, LargeObject, TextSearch...  a = database, b = OID (11,
///   2200
///                             exist in each database)
///   LargeObjectPages          a = database
///   Comment                   a = database (0: shared object), b = class OID, c = object OID, d = attribute or 0
///   SystemAcl                 a = database, b = class OID, c = object OID
///   Settings                  a = database or 0, b = role or 0
///   DefaultAcl                a = database, b = role, c = schema or 0, d = kind of objects
struct ObjectKey {
   ObjectKind kind;
   Oid a = 0, b = 0, c = 0;
   int32_t d = 0;
   auto operator<=>(const ObjectKey&) const = default;
};

/// Base of all objects. Snapshots own objects through shared_ptr.
struct CatalogObject {
   const ObjectKind kind;
   virtual ~CatalogObject();

protected:
   explicit CatalogObject(ObjectKind objectKind) : kind(objectKind) {}
   CatalogObject(const CatalogObject&) = default;
};
using ObjectPtr = std::shared_ptr<const CatalogObject>;

/// One grant. Bits are those of PostgreSQL's AclMode.
struct AclItem {
   Oid grantee = invalidOid; ///< invalidOid: PUBLIC
   Oid grantor = invalidOid;
   uint32_t privileges = 0, grantOptions = 0;
   bool operator==(const AclItem&) const = default;
};
namespace privilege {
inline constexpr uint32_t insert = 1, select = 2, update = 4, del = 8, truncate = 16, references = 32, trigger = 64,
                          execute = 128, usage = 256, create = 512, createTemp = 1024, connect = 2048, set = 4096,
                          alterSystem = 8192;
}
/// Privileges of an object; empty: the default privileges of the object's kind.
using Acl = std::optional<std::vector<AclItem>>;

/// CREATE LANGUAGE: another name for PL/pgSQL, which runs what is written in it. Its database has it.
struct Language {
   Oid oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   bool isTrusted = false;
   Oid inlineHandler = invalidOid; ///< invalidOid: DO blocks cannot be in it
   Oid validator = invalidOid;     ///< invalidOid: CREATE FUNCTION does not check bodies
   Acl acl;
};

struct Database : CatalogObject {
   Oid oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   bool isTemplate = false, allowsConnections = true;
   int32_t connectionLimit = -1;
   Acl acl;
   char localeProvider = 'c';              ///< of the default collation: 'c' libc, 'i' ICU
   std::string icuLocale;                  ///< of ICU
   std::string collate = "C", ctype = "C"; ///< LC_COLLATE and LC_CTYPE
   std::string collationVersion;           ///< of the default collation; empty: it has none
   std::vector<EventTrigger> eventTriggers;
   std::vector<Publication> publications;
   std::vector<Language> languages;
   Database() : CatalogObject(ObjectKind::Database) {}
};
using DatabasePtr = std::shared_ptr<const Database>;

/// An OID that no role has: it holds what everybody holds.
inline constexpr Oid nobodyRole = 0xffffffff;

struct Role : CatalogObject {
   Oid oid = invalidOid;
   std::string name;
   bool isSuperuser = false, inherits = true, createsRoles = false, createsDatabases = false, canLogin = false;
   bool canReplicate = false, bypassesRls = false;
   int32_t connectionLimit = -1;
   std::string verifier; ///< SCRAM-SHA-256$... or md5...; empty: no password
   std::optional<int64_t> validUntil;
   struct Membership {
      Oid role;
      bool isAdmin;
      Oid grantor;
   };
   std::vector<Membership> memberOf;
   Role() : CatalogObject(ObjectKind::Role) {}
};
using RolePtr = std::shared_ptr<const Role>;

struct Schema : CatalogObject {
   Oid database = invalidOid, oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   Acl acl;
   Schema() : CatalogObject(ObjectKind::Schema) {}
};
using SchemaPtr = std::shared_ptr<const Schema>;

/// OPTIONS (...) of foreign data: names and values, in the order in which they were given.
using ForeignOptions = std::vector<std::pair<std::string, std::string>>;

struct Column {
   std::string name;
   int16_t attribute = 0; ///< attnum, position in Relation::columns + 1; never reused
   SqlType type;
   bool notNull = false;
   bool isDropped = false;
   std::string defaultExpr; ///< SQL; empty: none. With generated: the generation expression
   Oid defaultOid = invalidOid;
   Oid defaultSequence = invalidOid;    ///< the sequence of a default nextval('...'); invalidOid: another default
   std::vector<Oid> relationsInDefault; ///< that another default names as regclass: nextval('a') + nextval('b')
   char identity = '\0';                ///< 'a' always, 'd' by default
   char generated = '\0';               ///< 's' stored
   int16_t dimensions = 0;              ///< pg_attribute.attndims
   // What is declared, shown and dumped, and changes nothing here.
   char storage = '\0';           ///< attstorage; none: the type's
   char compression = '\0';       ///< attcompression
   int32_t statisticsTarget = -1; ///< attstattarget
   /// attoptions, "name=value": how many values differ, where statistics are wrong. Planning follows them.
   std::vector<std::string> options;
   Acl acl;
   int16_t parentCount = 0;       ///< tables that it is inherited from
   bool isLocal = true;           ///< the table itself declares it, too
   ForeignOptions foreignOptions; ///< of foreign tables only
   bool hasDefault() const { return !defaultExpr.empty(); }
   /// The declared number of different values, as pg_stats.n_distinct: negative numbers are shares of the rows. With
   /// `withHeirs` of the table with those that inherit from it. Nothing: none is declared.
   std::optional<double> declaredDistinct(bool withHeirs) const;
   bool defaultNeeds(Oid relation) const {
      return defaultSequence == relation ||
             std::find(relationsInDefault.begin(), relationsInDefault.end(), relation) != relationsInDefault.end();
   }
   void dropDefault() {
      defaultExpr.clear();
      relationsInDefault.clear();
      defaultOid = defaultSequence = invalidOid;
   }
};

enum class ConstraintKind : char { Check = 'c', PrimaryKey = 'p', Unique = 'u', ForeignKey = 'f', Exclusion = 'x' };

struct Constraint {
   Oid oid = invalidOid;
   std::string name;
   ConstraintKind kind = ConstraintKind::Check;
   std::vector<int16_t> columns; ///< attnums; for checks: of the columns that the expression reads
   std::string expression;       ///< SQL of a check
   Oid index = invalidOid;       ///< of a key or exclusion: the relation of kind Index that the constraint owns
   Oid foreignRelation = invalidOid;
   Oid referencedIndex = invalidOid; ///< foreign key: the unique index of foreignRelation over foreignColumns
   std::vector<int16_t> foreignColumns;
   std::vector<int16_t> setColumns; ///< attnums that ON DELETE SET NULL or DEFAULT sets; none: all of `columns`
   char onUpdate = 'a', onDelete = 'a', match = 's'; ///< a no action, r restrict, c cascade, n set null, d set default
   bool isDeferrable = false, isInitiallyDeferred = false, isValidated = true, noInherit = false;
   /// Foreign key: whether changes of its table's rows and of the referenced table's rows are checked and followed.
   /// DISABLE TRIGGER ALL of either table ends it.
   bool mindsReferencing = true, mindsReferenced = true;
   int16_t parentCount = 0;           ///< tables that it is inherited from
   bool isLocal = true;               ///< the table itself declares it, too
   Oid parentConstraint = invalidOid; ///< of a partition's key or foreign key: the parent's, of which it is a part
   bool nullsNotDistinct = false;     ///< set in drafts of unique constraints only; the index keeps the value
   std::vector<int16_t> included;     ///< attnums of INCLUDE; set in drafts only, the same

   /// Whether an index of its own enforces it.
   bool ownsIndex() const {
      return kind == ConstraintKind::PrimaryKey || kind == ConstraintKind::Unique || kind == ConstraintKind::Exclusion;
   }
};

enum class RelationKind : char {
   Table = 'r',
   View = 'v',
   Composite = 'c', ///< the columns of CREATE TYPE ... AS
   Domain = 'd', ///< no relation to clients. One column, "value", has the base type, and the domain's default, NOT NULL
                 ///< and CHECK constraints
   Enum = 'e',   ///< no relation to clients: the labels of CREATE TYPE ... AS ENUM
   Range = 'R',  ///< no relation to clients: CREATE TYPE ... AS RANGE. One column, "subtype", has that type
   Multirange = 'M', ///< no relation to clients: the multirange type of one. Its column, "range", has the range's type
   Shell = 's', ///< no relation to clients: CREATE TYPE without a definition. There are no values and no array type
   MaterializedView = 'm',
   Sequence = 'S',
   Index = 'i',
   Virtual = 'V', ///< computed from the snapshot; clients see Relation::shownKind
};

enum class Persistence : char { Permanent = 'p', Unlogged = 'u', Temporary = 't' };

struct IndexDefinition {
   Oid table = invalidOid;
   bool isUnique = false, isPrimary = false, nullsNotDistinct = false;
   std::vector<int16_t> columns;         ///< attnums of key columns; 0: the next of `expressions`
   std::vector<std::string> expressions; ///< in parentheses, unless it is a call
   std::vector<uint8_t> options;         ///< per key column: bit 0 descending, bit 1 nulls first
   std::string predicate;
   std::string method = "btree";
   bool isPartitioned = false;    ///< of a partitioned table: each partition has its own index, this one has no rows
   Oid parentIndex = invalidOid;  ///< of a partition: the index of the parent that it is a part of
   std::vector<int16_t> included; ///< attnums of INCLUDE
   std::vector<int16_t> reads;    ///< attnums that the expressions and the predicate read
   std::vector<Oid> classes;      ///< operator classes by key column; invalidOid, or none at all: the default
   std::vector<Oid> operators;    ///< of an exclusion constraint, by key column; else empty
   bool hasCollationKeys = false; ///< a key column has a nondeterministic collation: the key has collation keys
   bool isClustered = false;      ///< the table was clustered by it last

   /// Whether its keys are more than columns of all rows.
   bool isComputed() const { return !expressions.empty() || !predicate.empty() || hasCollationKeys; }
   /// Whether the key, the included columns, an expression or the predicate has the column.
   bool has(int16_t attribute) const {
      for (const std::vector<int16_t>* list : {&columns, &included, &reads})
         if (std::find(list->begin(), list->end(), attribute) != list->end()) return true;
      return false;
   }
};

struct SequenceDefinition {
   SqlType type{oid::int8, -1, invalidOid};
   int64_t start = 1, increment = 1, minimum = 1, maximum = INT64_MAX, cache = 1;
   bool cycles = false;
   Oid ownerRelation = invalidOid; ///< OWNED BY
   int16_t ownerAttribute = 0;
   bool isIdentity = false;
};

/// Of the types of CREATE TYPE ... AS RANGE.
struct RangeDefinition {
   Oid partner = invalidOid;       ///< of a range its multirange's type, of a multirange the range's
   Oid operatorClass = invalidOid; ///< subtype_opclass
   Oid difference = invalidOid;    ///< the function subtype_diff; invalidOid: none
};

/// As pg_policy.polcmd.
enum class PolicyCommand : char { All = '*', Select = 'r', Insert = 'a', Update = 'w', Delete = 'd' };

/// A row-level security policy of a table. The expressions are SQL over the table's columns, and may have subqueries.
struct Policy {
   Oid oid = invalidOid;
   std::string name;
   PolicyCommand command = PolicyCommand::All;
   bool isPermissive = true;
   std::vector<Oid> roles;            ///< invalidOid: PUBLIC
   std::string tableName;             ///< by which the expressions name the table, whatever its name is now
   std::string usingExpr, checkExpr;  ///< empty: none
   std::vector<Dependency> dependsOn; ///< the table's own columns, and what subqueries read
   /// Whether a subquery reads a relation.
   bool hasSubquery() const {
      return std::any_of(dependsOn.begin(), dependsOn.end(),
                         [](const Dependency& read) { return read.attribute == 0; });
   }
   bool reads(Oid relation, int16_t attribute) const {
      return std::any_of(dependsOn.begin(), dependsOn.end(), [&](const Dependency& read) {
         return read.relation == relation && (attribute == 0 || read.attribute == attribute);
      });
   }
};

/// Of CREATE FOREIGN TABLE: where the rows would be. The table has none of its own.
struct ForeignTable {
   Oid server = invalidOid;
   ForeignOptions options;
};

struct Relation : CatalogObject {
   Oid database = invalidOid; ///< invalidOid: a built-in relation, which every database has
   Oid oid = invalidOid;
   Oid schema = invalidOid;
   std::string name;
   RelationKind relationKind = RelationKind::Table;
   char shownKind = '\0'; ///< pg_class.relkind of a virtual table: 'r' or 'v'
   Persistence persistence = Persistence::Permanent;
   Oid owner = bootstrapRole;
   Oid rowType = invalidOid, rowTypeArray = invalidOid; ///< the array's is arrayTypeOf() the other
   StorageId storage = noStorage;
   std::vector<Column> columns; ///< by attnum; dropped columns keep their place
   std::vector<Constraint> constraints;
   std::string definition; ///< SELECT of a view or materialized view
   std::vector<Dependency> dependsOn;
   std::optional<IndexDefinition> index;
   std::optional<SequenceDefinition> sequence;
   std::shared_ptr<const EnumLabels> labels; ///< of kind Enum; null: of another kind
   std::vector<std::string> options;         ///< "name=value" of WITH (...)
   char onCommit = '\0';                     ///< of temporary tables: 'p' preserve, 'd' delete rows, 'D' drop
   Acl acl;
   std::optional<PartitionKey> partitionKey;               ///< of a partitioned table, which has no rows of its own
   std::vector<Oid> parents;                               ///< in the order of INHERITS; of a partition: one
   std::optional<PartitionBound> bound;                    ///< of a partition
   bool hasRowSecurity = false, forcesRowSecurity = false; ///< ENABLE and FORCE ROW LEVEL SECURITY
   std::vector<Policy> policies;                           ///< by name
   std::optional<RangeDefinition> range;                   ///< of kinds Range and Multirange
   Oid ofType = invalidOid;                                ///< CREATE TABLE ... OF: the composite type
   std::vector<Rule> rules;                                ///< by name
   std::vector<Trigger> triggers;                          ///< by name, which is the order in which they fire
   bool isPopulated = true;             ///< pg_class.relispopulated; false: a materialized view WITH NO DATA
   std::optional<ForeignTable> foreign; ///< of a foreign table, whose kind is Table
   char replicaIdentity = 'd'; ///< as pg_class.relreplident: 'd' primary key, 'i' an index, 'f' the row, 'n' nothing
   Oid identityIndex = invalidOid; ///< of 'i'; it may have been dropped
   Relation() : CatalogObject(ObjectKind::Relation) {}

   /// pg_class.relkind.
   char relkind() const {
      if (partitionKey) return 'p';
      if (foreign) return 'f';
      if (index && index->isPartitioned) return 'I';
      return relationKind == RelationKind::Virtual ? shownKind : static_cast<char>(relationKind);
   }
   bool isPartition() const { return bound.has_value(); }
   /// Whether a table has rows of its own: neither one with partitions nor a foreign one has.
   bool hasOwnRows() const { return !partitionKey && !foreign; }
   bool isBuiltin() const { return database == invalidOid; }
   /// True for what is a relation only here: clients see a type, and no row of pg_class.
   bool isOnlyType() const {
      return relationKind == RelationKind::Domain || relationKind == RelationKind::Enum ||
             relationKind == RelationKind::Range || relationKind == RelationKind::Multirange ||
             relationKind == RelationKind::Shell;
   }
   /// Null if there is no live column of this name or number.
   const Column* findColumn(std::string_view columnName) const;
   const Column* column(int16_t attribute) const;
   const Constraint* findConstraint(std::string_view constraintName) const;
   const Constraint* primaryKey() const;
   /// The primary key or unique constraint that owns an index; null if there is none.
   const Constraint* constraintOf(Oid ownIndex) const;
   const Policy* findPolicy(std::string_view policyName) const;
   const Rule* findRule(std::string_view ruleName) const;
   const Trigger* findTrigger(std::string_view triggerName) const;
};
using RelationPtr = std::shared_ptr<const Relation>;

/// A comment of COMMENT ON. Built-in comments are rows of pg_description, not objects.
struct Comment : CatalogObject {
   ObjectKey object{ObjectKind::Comment};
   std::string text;
   Comment() : CatalogObject(ObjectKind::Comment) {}
};

/// Settings of ALTER ROLE ... SET and ALTER DATABASE ... SET.
struct Settings : CatalogObject {
   Oid database = invalidOid, role = invalidOid;
   std::vector<std::pair<std::string, std::string>> values;
   Settings() : CatalogObject(ObjectKind::Settings) {}
};

/// The privileges that what a role will make begins with: ALTER DEFAULT PRIVILEGES.
struct DefaultAcl : CatalogObject {
   Oid database = invalidOid, oid = invalidOid, role = invalidOid;
   Oid schema = invalidOid;  ///< of the objects; invalidOid: all schemas
   char objects = 'r';       ///< as pg_default_acl.defaclobjtype: r, S, f, T, n
   std::vector<AclItem> acl; ///< of all schemas: the whole list; of one: what comes to it
   DefaultAcl() : CatalogObject(ObjectKind::DefaultAcl) {}
};

/// What GRANT and REVOKE have made of the privileges of a built-in object.
struct SystemAcl : CatalogObject {
   Oid database = invalidOid;
   Oid classOid = invalidOid, object = invalidOid; ///< pg_proc or pg_language
   std::vector<AclItem> acl;
   SystemAcl() : CatalogObject(ObjectKind::SystemAcl) {}
};

/// The foreign-data wrapper that every database has, "s3": its servers are places in an object store, and its user
/// mappings the keys with which roles come to them.
inline constexpr Oid s3Wrapper = 9100;

/// CREATE SERVER.
struct ForeignServer : CatalogObject {
   using Options = ForeignOptions;
   Oid database = invalidOid, oid = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   Acl acl;
   std::string type, version; ///< empty: none
   Options options;
   Oid wrapper = s3Wrapper;
   /// CREATE USER MAPPING.
   struct Mapping {
      Oid oid = invalidOid;
      Oid role = invalidOid; ///< invalidOid: PUBLIC
      Options options;
   };
   std::vector<Mapping> mappings;
   ForeignServer() : CatalogObject(ObjectKind::Server) {}
   /// The mapping of exactly this role; null if there is none.
   const Mapping* mappingOf(Oid role) const;
};
using ServerPtr = std::shared_ptr<const ForeignServer>;

struct PreparedTransaction; // prepared_transaction.hpp
using PreparedTransactionPtr = std::shared_ptr<const PreparedTransaction>;
struct Statistics; // statistics.hpp
using StatisticsPtr = std::shared_ptr<const Statistics>;
struct Collation; // collation.hpp
using CollationPtr = std::shared_ptr<const Collation>;
struct Function;           // function.hpp
struct FunctionDefinition; // function.hpp
using FunctionPtr = std::shared_ptr<const Function>;
struct Operator;           // operator.hpp
struct OperatorDefinition; // operator.hpp
using OperatorPtr = std::shared_ptr<const Operator>;
struct Cast; // cast.hpp
using CastPtr = std::shared_ptr<const Cast>;
struct TextSearchObject; // text_search/text_search.hpp
using TextSearchPtr = std::shared_ptr<const TextSearchObject>;
struct Extension; // extension.hpp
using ExtensionPtr = std::shared_ptr<const Extension>;
struct LargeObject; // large_object.hpp
using LargeObjectPtr = std::shared_ptr<const LargeObject>;
struct ForeignWrapper; // foreign_wrapper.hpp
using ForeignWrapperPtr = std::shared_ptr<const ForeignWrapper>;

/// OIDs of system catalogs; comments and dependencies use them to name a class of objects.
namespace class_oid {
inline constexpr Oid pgType = 1247, pgProc = 1255, pgClass = 1259, pgAuthid = 1260, pgDatabase = 1262, pgAttrdef = 2604,
                     pgConstraint = 2606, pgNamespace = 2615, pgOperator = 2617, pgRewrite = 2618, pgTablespace = 1213,
                     pgPolicy = 3256, pgDefaultAcl = 826, pgForeignServer = 1417, pgStatisticExt = 3381,
                     pgCollation = 3456, pgTrigger = 2620, pgCast = 2605, pgEventTrigger = 3466, pgExtension = 3079,
                     pgLanguage = 2612, pgLargeObject = 2613, pgForeignDataWrapper = 2328, pgUserMapping = 1418,
                     pgForeignTable = 3118, pgAttribute = 1249, pgPublication = 6104, pgPublicationRel = 6106,
                     pgPublicationNamespace = 6237;
}

/// The key of an object in a snapshot.
ObjectKey keyOf(const CatalogObject& object);
/// Whether the relation is what CREATE TYPE or CREATE DOMAIN made. Its list has the privileges of a type.
bool isUserType(const Relation& relation);
/// The word for a relation in error messages: "table", "view", "index", ...
std::string_view relationKindName(const Relation& relation);

} // namespace ouzel::catalog
