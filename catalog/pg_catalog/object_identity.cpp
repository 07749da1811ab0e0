#include "catalog/pg_catalog/object_identity.hpp"

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/published_tables.hpp"
#include "catalog/object/range_constructors.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

/// Classes whose objects are rows of the build, by name and perhaps by schema.
struct NamedClass {
   Oid classOid;
   const char *type, *catalog, *name, *schema, *method; ///< null: there is none
};
constexpr NamedClass namedClasses[] = {
    {2601, "access method", "pg_am", "amname", nullptr, nullptr},
    {2607, "conversion", "pg_conversion", "conname", "connamespace", nullptr},
    {2612, "language", "pg_language", "lanname", nullptr, nullptr},
    {2616, "operator class", "pg_opclass", "opcname", "opcnamespace", "opcmethod"},
    {2753, "operator family", "pg_opfamily", "opfname", "opfnamespace", "opfmethod"},
    {1213, "tablespace", "pg_tablespace", "spcname", nullptr, nullptr},
    {3602, "text search configuration", "pg_ts_config", "cfgname", "cfgnamespace", nullptr},
    {3600, "text search dictionary", "pg_ts_dict", "dictname", "dictnamespace", nullptr},
    {3601, "text search parser", "pg_ts_parser", "prsname", "prsnamespace", nullptr},
    {3764, "text search template", "pg_ts_template", "tmplname", "tmplnamespace", nullptr},
};

/// What an address of a class is called whose object does not exist, or that there are none of.
constexpr std::pair<Oid, const char*> otherClasses[] = {
    {826, "default acl"},
    {1259, "relation"},
    {1247, "type"},
    {1255, "routine"},
    {2606, "constraint"},
    {2604, "default value"},
    {2615, "schema"},
    {1260, "role"},
    {1262, "database"},
    {3381, "statistics object"},
    {3456, "collation"},
    {3256, "policy"},
    {2618, "rule"},
    {2617, "operator"},
    {2605, "cast"},
    {1417, "server"},
    {2328, "foreign-data wrapper"},
    {1418, "user mapping"},
    {2620, "trigger"},
    {3466, "event trigger"},
    {3079, "extension"},
    {6104, "publication"},
    {6106, "publication relation"},
    {6237, "publication namespace"},
    {6100, "subscription"},
    {3576, "transform"},
    {2613, "large object"},
    {2602, "operator of access method"},
    {2603, "function of access method"},
};

/// Finds out what one address names.
class Identifier {
public:
   Identifier(const NameContext& context, Oid object, int32_t attribute)
      : context_(context), object_(object), attribute_(attribute) {}

   ObjectIdentity identify(Oid classOid) {
      const Language* language = classOid == class_oid::pgLanguage ? userLanguage(snapshot(), object_) : nullptr;
      if (language) {
         found_.type = "language";
         plain("language ", language->name);
         return std::move(found_);
      }
      for (const NamedClass& named : namedClasses)
         if (named.classOid == classOid) return namedObject(named);
      bool isKnown = false;
      for (const auto& [other, type] : otherClasses)
         if (other == classOid) {
            found_.type = type;
            isKnown = true;
         }
      if (!isKnown) throw SqlError(sqlstate::internalError, "unrecognized object class: " + std::to_string(classOid));
      switch (classOid) {
      case class_oid::pgClass: relation(); break;
      case class_oid::pgType: type(); break;
      case class_oid::pgProc: function(); break;
      case class_oid::pgConstraint: constraint(); break;
      case class_oid::pgAttrdef: columnDefault(); break;
      case class_oid::pgNamespace: schema(); break;
      case class_oid::pgAuthid:
         if (const RolePtr role = snapshot().role(object_)) plain("role ", role->name);
         break;
      case class_oid::pgDatabase:
         if (const DatabasePtr database = snapshot().database(object_)) plain("database ", database->name);
         break;
      case class_oid::pgStatisticExt: statistics(); break;
      case class_oid::pgCollation: collation(); break;
      case class_oid::pgPolicy: policy(); break;
      case class_oid::pgRewrite: rule(); break;
      case class_oid::pgTrigger: trigger(); break;
      case class_oid::pgEventTrigger:
         for (const EventTrigger& trigger : snapshot().database(snapshot().database())->eventTriggers)
            if (trigger.oid == object_) plain("event trigger ", trigger.name);
         break;
      case class_oid::pgPublication:
      case class_oid::pgPublicationRel:
      case class_oid::pgPublicationNamespace: publication(); break;
      case class_oid::pgOperator: op(); break;
      case class_oid::pgForeignServer: server(); break;
      case class_oid::pgExtension:
         if (const auto* builtin = builtinExtension(object_)) plain("extension ", std::string(builtin->name));
         if (const ExtensionPtr extension = snapshot().extension(object_)) plain("extension ", extension->name);
         break;
      case class_oid::pgLargeObject:
         if (snapshot().largeObject(object_)) {
            found_.identity = std::to_string(object_);
            found_.description = "large object " + found_.identity;
            found_.names = {found_.identity};
         }
         break;
      case 2605: cast(); break;
      case class_oid::pgForeignDataWrapper:
         if (const ForeignWrapperPtr wrapper = snapshot().wrapper(object_))
            plain("foreign-data wrapper ", wrapper->name);
         break;
      case class_oid::pgUserMapping: mapping(); break;
      case class_oid::pgDefaultAcl: defaultPrivileges(); break;
      default: break;
      }
      return std::move(found_);
   }

private:
   const Snapshot& snapshot() const { return context_.snapshot; }
   std::string schemaName(Oid oid) const {
      const SchemaPtr found = snapshot().schema(oid);
      if (found && oid == context_.path.temporary) return "pg_temp";
      return found ? found->name : std::string();
   }
   std::string qualified(Oid schema, std::string_view name) const {
      return quoteIdentifier(schemaName(schema)) + "." + quoteIdentifier(name);
   }
   /// The type's name with its schema, unless SQL has a word for it.
   std::string fullType(Oid type) const {
      const SearchPath nowhere;
      std::string text = formatType({snapshot(), nowhere, context_.role}, type, std::nullopt);
      const SchemaPtr temporary =
          context_.path.temporary == invalidOid ? nullptr : snapshot().schema(context_.path.temporary);
      if (temporary && text.starts_with(temporary->name + ".")) text.replace(0, temporary->name.size(), "pg_temp");
      return text;
   }
   void plain(const std::string& word, const std::string& name) {
      found_.description = word + name;
      found_.name = found_.identity = quoteIdentifier(name);
      found_.names = {name};
   }
   /// "table t" as messages say it, of a relation or a composite type.
   std::string described(const Relation& relation) const {
      return word(relation) + " " + displayName(snapshot(), context_.path, relation);
   }
   static std::string word(const Relation& relation) {
      return relation.relationKind == RelationKind::Composite ? "composite type"
                                                              : std::string(relationKindName(relation));
   }
   void partOf(const Relation& table, const std::string& name) {
      found_.identity = quoteIdentifier(name) + " on " + qualified(table.schema, table.name);
      found_.names = {schemaName(table.schema), table.name, name};
   }

   ObjectIdentity namedObject(const NamedClass& kind) {
      found_.type = kind.type;
      const TextTable& table = *builtins().rows(kind.catalog);
      const auto number = [](std::string_view text) { return static_cast<Oid>(std::stoul(std::string(text))); };
      for (uint32_t row = 0; row < table.rowCount(); ++row) {
         const auto text = [&](const char* column) { return std::string(*table.at(row, table.column(column))); };
         if (number(text("oid")) != object_) continue;
         const std::string name = text(kind.name);
         found_.name = quoteIdentifier(name);
         found_.description = std::string(kind.type) + " " + (kind.schema ? *found_.name : name);
         found_.identity = kind.schema ? qualified(number(text(kind.schema)), name) : *found_.name;
         if (kind.schema) found_.schema = quoteIdentifier(schemaName(number(text(kind.schema))));
         if (kind.schema) found_.names.push_back(schemaName(number(text(kind.schema))));
         found_.names.push_back(name);
         if (!kind.method) break;
         const TextTable& methods = *builtins().rows("pg_am");
         for (uint32_t m = 0; m < methods.rowCount(); ++m) {
            if (*methods.at(m, methods.column("oid")) != text(kind.method)) continue;
            const std::string method(*methods.at(m, methods.column("amname")));
            *found_.description += " for access method " + method;
            found_.identity += " USING " + method;
            found_.names.insert(found_.names.begin(), method);
         }
         break;
      }
      if (object_ >= firstUserOid) textSearch(kind.classOid);
      if (kind.method) ofExtension(kind);
      return std::move(found_);
   }

   /// An operator class or family of an extension.
   void ofExtension(const NamedClass& kind) {
      const ExtensionClass* made =
          kind.catalog == std::string_view("pg_opclass") ? extensionClass(object_) : extensionFamily(object_);
      const ExtensionPtr extension = made ? snapshot().findExtension(made->extension) : nullptr;
      if (!extension) return;
      const std::string name(made->name), method(made->method), schema = schemaName(extension->schema);
      const bool isVisible = isBuiltinVisible(context_, kind.catalog, object_).value_or(false);
      found_.name = quoteIdentifier(name);
      found_.schema = quoteIdentifier(schema);
      found_.identity = qualified(extension->schema, name) + " USING " + method;
      found_.description = std::string(kind.type) + " " +
                           (isVisible ? *found_.name : qualified(extension->schema, name)) + " for access method " +
                           method;
      found_.names = {method, schema, name};
   }

   void relation() {
      const RelationPtr r = snapshot().relation(object_);
      if (!r || r->isOnlyType()) return;
      found_.type = word(*r) + (attribute_ != 0 ? " column" : "");
      const Column* column = attribute_ != 0 ? r->column(static_cast<int16_t>(attribute_)) : nullptr;
      if (attribute_ != 0 && !column) return;
      found_.schema = quoteIdentifier(schemaName(r->schema));
      found_.name = quoteIdentifier(r->name);
      found_.identity = qualified(r->schema, r->name) + (column ? "." + quoteIdentifier(column->name) : "");
      found_.names = {schemaName(r->schema), r->name};
      if (column) found_.names.push_back(column->name);
      found_.description = column ? "column " + column->name + " of " + described(*r) : described(*r);
   }

   void type() {
      const RelationPtr made = object_ >= firstUserOid ? snapshot().relationOfType(object_) : nullptr;
      const TypeInfo* builtin = builtins().type(object_);
      if (!made && !builtin) return;
      const bool isArray = made && (object_ & userArrayBit) != 0;
      found_.description = "type " + formatType(context_, object_, std::nullopt);
      found_.schema = quoteIdentifier(schemaName(made ? made->schema : builtin->schema));
      found_.name = quoteIdentifier(made ? (isArray ? "_" : "") + made->name : std::string(builtin->name));
      found_.identity = fullType(object_);
      found_.names = {found_.identity};
   }

   void function() {
      const FunctionInfo* f = functionInfo(context_.snapshot, object_);
      if (!f) return;
      found_.type = f->kind == FunctionKind::Aggregate   ? "aggregate"
                    : f->kind == FunctionKind::Procedure ? "procedure"
                                                         : "function";
      found_.schema = quoteIdentifier(schemaName(f->schema));
      found_.description = "function " + regprocedureOut(context_, object_);
      std::string list;
      for (const Oid argument : f->argTypes) {
         list += (list.empty() ? "" : ",") + fullType(argument);
         found_.args.push_back(fullType(argument));
      }
      found_.identity = qualified(f->schema, f->name) + "(" + list + ")";
      found_.names = {schemaName(f->schema), std::string(f->name)};
   }

   void textSearch(Oid classOid) {
      for (const ObjectKind kind : textSearchKinds) {
         const TextSearchPtr object =
             textSearchClass(kind) == classOid ? snapshot().textSearch(kind, object_) : nullptr;
         if (!object) continue;
         found_.name = quoteIdentifier(object->name);
         found_.schema = quoteIdentifier(schemaName(object->schema));
         found_.description = std::string(textSearchWord(kind)) + " " + displayName(snapshot(), context_.path, *object);
         found_.identity = qualified(object->schema, object->name);
         found_.names = {schemaName(object->schema), object->name};
      }
   }

   void op() {
      const OperatorInfo* o = operatorInfo(snapshot(), object_);
      if (!o) return;
      const std::string left = o->isPrefix() ? "-" : fullType(o->left), right = fullType(o->right);
      found_.schema = quoteIdentifier(schemaName(o->schema));
      found_.description = "operator " + regoperatorOut(context_, object_);
      found_.identity = quoteIdentifier(schemaName(o->schema)) + "." + std::string(o->name) + "(" +
                        (o->isPrefix() ? "NONE" : left) + "," + right + ")";
      found_.names = {schemaName(o->schema), std::string(o->name)};
      found_.args = {left, right};
   }

   void cast() {
      if (const CastPtr own = snapshot().cast(object_)) return castOf(own->source.named(), own->target.named());
      for (const RelationPtr& type : snapshot().relations())
         if (type->relationKind == RelationKind::Multirange && castToMultirange(*type) == object_)
            return castOf(type->columns[0].type.named(), type->rowType);
      const TextTable& table = *builtins().rows("pg_cast");
      for (uint32_t row = 0; row < table.rowCount(); ++row) {
         const auto oid = [&](const char* column) {
            return static_cast<Oid>(std::stoul(std::string(*table.at(row, table.column(column)))));
         };
         if (oid("oid") == object_) castOf(oid("castsource"), oid("casttarget"));
      }
   }
   void castOf(Oid source, Oid target) {
      found_.description = "cast from " + formatType(context_, source, std::nullopt) + " to " +
                           formatType(context_, target, std::nullopt);
      found_.identity = "(" + fullType(source) + " AS " + fullType(target) + ")";
      found_.names = {fullType(source)};
      found_.args = {fullType(target)};
   }

   void defaultPrivileges() {
      struct Kind {
         char letter;
         const char *described, *identified;
      };
      constexpr Kind kinds[] = {{'r', "relations", "tables"},
                                {'S', "sequences", "sequences"},
                                {'f', "functions", "functions"},
                                {'T', "types", "types"},
                                {'n', "schemas", "schemas"}};
      for (const auto& defaults : snapshot().defaultAcls()) {
         if (defaults->oid != object_) continue;
         const RolePtr owner = snapshot().role(defaults->role);
         const std::string role = owner ? owner->name : std::to_string(defaults->role);
         found_.names = {role};
         std::string place;
         if (const SchemaPtr schema = snapshot().schema(defaults->schema)) {
            found_.names.push_back(schema->name);
            place = " in schema " + schema->name;
         }
         for (const Kind& kind : kinds) {
            if (kind.letter != defaults->objects) continue;
            found_.description =
                std::string("default privileges on new ") + kind.described + " belonging to role " + role + place;
            found_.identity = "for role " + quoteIdentifier(role) + place + " on " + kind.identified;
            found_.args = {std::string{kind.letter}};
         }
      }
   }

   void constraint() {
      const auto [table, c] = findConstraint(snapshot(), object_);
      if (!c) return;
      found_.schema = quoteIdentifier(schemaName(table->schema));
      if (table->isOnlyType()) {
         found_.type = "domain constraint";
         found_.description = "constraint " + c->name;
         found_.identity = quoteIdentifier(c->name) + " on " + fullType(table->rowType);
         found_.names = {fullType(table->rowType)};
         found_.args = {c->name};
         return;
      }
      found_.type = "table constraint";
      found_.description = "constraint " + c->name + " on " + described(*table);
      partOf(*table, c->name);
   }

   void columnDefault() {
      for (const RelationPtr& r : snapshot().relations())
         for (const Column& column : r->columns) {
            if (!column.hasDefault() || column.defaultOid != object_) continue;
            found_.description = "default value for column " + column.name + " of " + described(*r);
            found_.identity = "for " + qualified(r->schema, r->name) + "." + quoteIdentifier(column.name);
            found_.names = {schemaName(r->schema), r->name, column.name};
         }
   }

   void schema() {
      if (const SchemaPtr found = snapshot().schema(object_)) plain("schema ", found->name);
   }

   void statistics() {
      const StatisticsPtr s = snapshot().statistics(object_);
      if (!s) return;
      found_.description = "statistics object " + displayName(snapshot(), context_.path, *s);
      found_.schema = quoteIdentifier(schemaName(s->schema));
      found_.name = quoteIdentifier(s->name);
      found_.identity = qualified(s->schema, s->name);
      found_.names = {schemaName(s->schema), s->name};
   }

   void collation() {
      const auto c = collationInfo(snapshot(), object_);
      if (!c) return;
      found_.description = "collation " + displayName(snapshot(), context_.path, *c);
      found_.schema = quoteIdentifier(schemaName(c->schema));
      found_.name = quoteIdentifier(c->name);
      found_.identity = qualified(c->schema, c->name);
      found_.names = {schemaName(c->schema), std::string(c->name)};
   }

   void policy() {
      for (const RelationPtr& r : snapshot().relations())
         for (const Policy& policy : r->policies) {
            if (policy.oid != object_) continue;
            found_.description = "policy " + policy.name + " on " + described(*r);
            partOf(*r, policy.name);
         }
   }

   void trigger() {
      for (const RelationPtr& r : snapshot().relations())
         for (const Trigger& trigger : r->triggers) {
            if (trigger.oid != object_) continue;
            found_.description = "trigger " + trigger.name + " on " + described(*r);
            partOf(*r, trigger.name);
         }
   }

   void rule() {
      if (const auto [relation, own] = snapshot().rule(object_); relation) {
         found_.description = "rule " + own->name + " on " + described(*relation);
         return partOf(*relation, own->name);
      }
      const RelationPtr view = snapshot().relation(viewOfRule(object_));
      if (!view || view->definition.empty()) return;
      found_.description = "rule _RETURN on " + described(*view);
      partOf(*view, "_RETURN");
   }

   void server() {
      if (const ServerPtr found = snapshot().server(object_)) plain("server ", found->name);
   }

   /// A publication, or a table or schema of one.
   void publication() {
      for (const Publication& p : publicationsOf(snapshot())) {
         if (p.oid == object_) plain("publication ", p.name);
         for (const PublicationTable& one : p.tables) {
            const RelationPtr table = one.oid == object_ ? snapshot().relation(one.table) : nullptr;
            if (!table) continue;
            found_.description = "publication of " + described(*table) + " in publication " + p.name;
            found_.identity = qualified(table->schema, table->name) + " in publication " + p.name;
            found_.names = {schemaName(table->schema), table->name};
            found_.args = {p.name};
         }
         for (const PublicationSchema& one : p.schemas) {
            if (one.oid != object_) continue;
            const std::string schema = schemaName(one.schema);
            found_.description = "publication of schema " + schema + " in publication " + p.name;
            found_.identity = schema + " in publication " + p.name;
            found_.names = {schema};
            found_.args = {p.name};
         }
      }
   }

   void mapping() {
      for (const ServerPtr& s : snapshot().servers())
         for (const ForeignServer::Mapping& mapping : s->mappings) {
            if (mapping.oid != object_) continue;
            const RolePtr role = snapshot().role(mapping.role);
            const std::string user = role ? role->name : "public";
            found_.description = describeMapping(snapshot(), *s, mapping.role);
            found_.identity = quoteIdentifier(user) + " on server " + s->name;
            found_.names = {user};
            found_.args = {s->name};
         }
   }

   const NameContext& context_;
   const Oid object_;
   const int32_t attribute_;
   ObjectIdentity found_;
};

} // namespace

ObjectIdentity identifyObject(const NameContext& context, Oid classOid, Oid object, int32_t attribute) {
   return Identifier(context, object, attribute).identify(classOid);
}

} // namespace ouzel::catalog
