#include "engine/definition/system_object.hpp"

#include <algorithm>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/extension_types.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "engine/query/object_kind.hpp"

namespace ouzel::engine {

using catalog::builtins;
using catalog::FunctionKind;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

std::vector<std::string> partsOf(const ::Node* object) {
   if (isNode(object, T_String)) return {std::string(stringOf(object))};
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(as<::List>(object)))
      parts.emplace_back(stringOf(part));
   return parts;
}

std::string joined(const std::vector<std::string>& parts, const char* separator = ".") {
   std::string text;
   for (const std::string& part : parts)
      text += (text.empty() ? "" : separator) + part;
   return text;
}

SystemObject missing(SqlState state, const std::string& message, std::string skipped = {}) {
   SystemObject object;
   object.missing = SqlError(state, message);
   object.skipped = skipped.empty() ? message : std::move(skipped);
   return object;
}

/// A catalog of built-in objects that are found by a name and a schema, or by a name alone.
struct NamedCatalog {
   ::ObjectType type;
   Oid classOid;
   const char *catalog, *name; ///< null: there are no built-in objects of the kind
   const char* schema;         ///< column of the schema; null: the objects have none
};

constexpr NamedCatalog namedCatalogs[] = {
    {OBJECT_ACCESS_METHOD, 2601, "pg_am", "amname", nullptr},
    {OBJECT_COLLATION, 3456, "pg_collation", "collname", "collnamespace"},
    {OBJECT_CONVERSION, 2607, "pg_conversion", "conname", "connamespace"},
    {OBJECT_EVENT_TRIGGER, 0, nullptr, nullptr, nullptr},
    {OBJECT_EXTENSION, catalog::class_oid::pgExtension, nullptr, nullptr, nullptr},
    {OBJECT_FDW, 0, nullptr, nullptr, nullptr},
    {OBJECT_FOREIGN_SERVER, 0, nullptr, nullptr, nullptr},
    {OBJECT_LANGUAGE, 2612, "pg_language", "lanname", nullptr},
    {OBJECT_OPCLASS, 2616, "pg_opclass", "opcname", "opcnamespace"},
    {OBJECT_OPFAMILY, 2753, "pg_opfamily", "opfname", "opfnamespace"},
    {OBJECT_PUBLICATION, 0, nullptr, nullptr, nullptr},
    {OBJECT_SUBSCRIPTION, 0, nullptr, nullptr, nullptr},
    {OBJECT_TABLESPACE, catalog::class_oid::pgTablespace, "pg_tablespace", "spcname", nullptr},
    {OBJECT_TSCONFIGURATION, 3602, "pg_ts_config", "cfgname", "cfgnamespace"},
    {OBJECT_TSDICTIONARY, 3600, "pg_ts_dict", "dictname", "dictnamespace"},
    {OBJECT_TSPARSER, 3601, "pg_ts_parser", "prsname", "prsnamespace"},
    {OBJECT_TSTEMPLATE, 3764, "pg_ts_template", "tmplname", "tmplnamespace"},
};

/// OID of the first row whose columns have these values; invalidOid if there is none.
Oid findRow(const char* catalog, std::initializer_list<std::pair<const char*, std::string>> values) {
   const catalog::TextTable& table = *builtins().rows(catalog);
   for (uint32_t row = 0; row < table.rowCount(); ++row)
      if (std::all_of(values.begin(), values.end(),
                      [&](const auto& value) { return table.at(row, table.column(value.first)) == value.second; }))
         return static_cast<Oid>(std::stoul(std::string(*table.at(row, table.column("oid")))));
   return invalidOid;
}

/// Finds objects for one statement.
class Search {
public:
   explicit Search(SessionCore& core) : path_(core.searchPath()), names_{core.transaction.catalog(), path_} {}

   SystemObject type(const ::TypeName& name, bool mustBeDomain);
   SystemObject type(std::vector<std::string> parts, bool isArray, bool mustBeDomain);
   SystemObject routine(::ObjectType type, const ::ObjectWithArgs& object);
   SystemObject op(const ::ObjectWithArgs& object);
   SystemObject cast(const ::TypeName& source, const ::TypeName& target);
   SystemObject transform(const ::TypeName& type, const std::string& language);
   SystemObject named(const NamedCatalog& kind, std::vector<std::string> parts, const std::string& accessMethod = {});
   SystemObject partOfRelation(::ObjectType type, const catalog::QualifiedName& relation, const std::string& name);

private:
   const catalog::Snapshot& snapshot() const { return names_.snapshot; }
   Oid extension(const std::string& name) const {
      const auto made = snapshot().findExtension(name);
      const auto* builtin = catalog::findBuiltinExtension(name);
      return made ? made->oid : builtin ? builtin->oid : Oid{invalidOid};
   }
   std::string typeText(Oid type) const { return catalog::formatType(names_, type, std::nullopt); }
   std::string typeList(const std::vector<Oid>& types) const {
      std::string text;
      for (const Oid type : types)
         text += (text.empty() ? "" : ", ") + typeText(type);
      return text;
   }
   /// The schemas to search for a name; empty if its schema does not exist.
   std::vector<Oid> schemasOf(const std::vector<std::string>& parts) const;
   static SystemObject missingSchema(const std::vector<std::string>& parts) {
      return missing(sqlstate::undefinedSchema, "schema \"" + parts[parts.size() - 2] + "\" does not exist");
   }
   SystemObject anyOverload(::ObjectType type, const std::vector<std::string>& parts) const;
   SystemObject found(::ObjectType type, const std::vector<std::string>& parts,
                      const catalog::FunctionInfo& function) const;

   const catalog::SearchPath path_;
   const catalog::NameContext names_;
};

std::string textOfType(const ::TypeName& name) {
   return joined(partsOf(reinterpret_cast<const ::Node*>(name.names))) +
          (ListOf<>(name.arrayBounds).empty() ? "" : "[]");
}

std::vector<Oid> Search::schemasOf(const std::vector<std::string>& parts) const {
   if (parts.size() > 3)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + joined(parts));
   if (parts.size() == 3 && parts[0] != snapshot().database(snapshot().database())->name)
      throw SqlError(sqlstate::featureNotSupported, "cross-database references are not implemented: " + joined(parts));
   if (parts.size() == 1) return path_.schemas;
   const std::string& name = parts[parts.size() - 2];
   if (name == "pg_temp" && path_.temporary != invalidOid) return {path_.temporary};
   const catalog::SchemaPtr schema = snapshot().findSchema(name);
   return schema ? std::vector{schema->oid} : std::vector<Oid>();
}

SystemObject Search::type(const ::TypeName& name, bool mustBeDomain) {
   return type(partsOf(reinterpret_cast<const ::Node*>(name.names)), !ListOf<>(name.arrayBounds).empty(), mustBeDomain);
}

SystemObject Search::type(std::vector<std::string> parts, bool isArray, bool mustBeDomain) {
   const std::string text = joined(parts) + (isArray ? "[]" : "");
   const std::vector<Oid> schemas = schemasOf(parts);
   if (schemas.empty()) return missingSchema(parts);
   SystemObject object;
   object.classOid = catalog::class_oid::pgType;
   const std::string& name = parts.back();
   for (size_t i = 0; i < schemas.size() && object.oid == invalidOid; ++i) {
      const catalog::TypeInfo* builtin = builtins().findType(name, schemas[i]);
      if (!builtin) builtin = catalog::findExtensionType(snapshot(), schemas[i], name);
      if (builtin) {
         object.oid = isArray && !builtin->isArray() ? builtin->array : builtin->oid;
         if (mustBeDomain && builtin->kind != catalog::TypeKind::Domain)
            throw SqlError(sqlstate::wrongObjectType, "\"" + text + "\" is not a domain");
      } else if (const auto relation = snapshot().findRelation(schemas[i], name)) {
         object.oid = isArray ? relation->rowTypeArray : relation->rowType;
         if (object.oid == invalidOid || builtins().type(object.oid)) continue;
         if (!isArray && relation->isOnlyType()) {
            if (mustBeDomain && relation->relationKind != catalog::RelationKind::Domain)
               throw SqlError(sqlstate::wrongObjectType, "\"" + text + "\" is not a domain");
            object.description = "type " + typeText(object.oid);
            return object;
         }
         object.owner = isArray ? "type " + typeText(relation->rowType)
                                : std::string(catalog::relationKindName(*relation)) + " " +
                                      catalog::displayName(snapshot(), path_, *relation);
      } else if (const auto row = name[0] == '_' ? snapshot().findRelation(schemas[i], name.substr(1)) : nullptr) {
         object.oid = row->rowTypeArray;
         if (object.oid != invalidOid) object.owner = "type " + typeText(row->rowType);
      }
   }
   if (object.oid == invalidOid) return missing(sqlstate::undefinedObject, "type \"" + text + "\" does not exist");
   if (mustBeDomain && !object.owner.empty())
      throw SqlError(sqlstate::wrongObjectType, "\"" + text + "\" is not a domain");
   object.description = "type " + typeText(object.oid);
   return object;
}

SystemObject Search::found(::ObjectType type, const std::vector<std::string>& parts,
                           const catalog::FunctionInfo& function) const {
   const std::string signature =
       joined(parts) + "(" + typeList({function.argTypes.begin(), function.argTypes.end()}) + ")";
   if (type == OBJECT_PROCEDURE && function.kind != FunctionKind::Procedure)
      throw SqlError(sqlstate::wrongObjectType, signature + " is not a procedure");
   if (type == OBJECT_AGGREGATE && function.kind != FunctionKind::Aggregate)
      throw SqlError(sqlstate::wrongObjectType, "function " + signature + " is not an aggregate");
   return {catalog::class_oid::pgProc,
           function.oid,
           "function " + catalog::regprocedureOut(names_, function.oid),
           {},
           {},
           {}};
}

SystemObject Search::anyOverload(::ObjectType type, const std::vector<std::string>& parts) const {
   const std::vector<Oid> schemas = schemasOf(parts);
   if (schemas.empty()) return missingSchema(parts);
   const std::string name = joined(parts);
   const catalog::FunctionInfo* match = nullptr;
   std::vector<const catalog::FunctionInfo*> candidates;
   for (const catalog::FunctionInfo* builtin : builtins().functions(parts.back()))
      if (std::find(schemas.begin(), schemas.end(), builtin->schema) != schemas.end()) candidates.push_back(builtin);
   for (const Oid schema : schemas)
      for (const catalog::FunctionPtr& function : snapshot().findFunctions(schema, parts.back()))
         candidates.push_back(&function->info());
   for (const catalog::FunctionInfo* candidate : candidates) {
      if ((type == OBJECT_PROCEDURE) != (candidate->kind == FunctionKind::Procedure) && type != OBJECT_ROUTINE)
         continue;
      const std::string noun(objectKindNoun(type));
      if (match)
         throw SqlError(sqlstate::ambiguousFunction, noun + " name \"" + name + "\" is not unique")
             .hint("Specify the argument list to select the " + noun + " unambiguously.");
      match = candidate;
   }
   if (match) return found(type, parts, *match);
   return missing(sqlstate::undefinedFunction,
                  std::string("could not find a ") + (type == OBJECT_PROCEDURE ? "procedure" : "function") +
                      " named \"" + name + "\"",
                  std::string(objectKindNoun(type)) + " " + name + "() does not exist");
}

SystemObject Search::routine(::ObjectType type, const ::ObjectWithArgs& object) {
   const std::vector<std::string> parts = partsOf(reinterpret_cast<const ::Node*>(object.objname));
   if (object.args_unspecified) return anyOverload(type, parts);
   const std::vector<Oid> schemas = schemasOf(parts);
   std::vector<Oid> types;
   std::vector<std::string> texts;
   for (const ::TypeName* argument : ListOf<::TypeName>(object.objargs)) {
      SystemObject found = this->type(*argument, false);
      if (found.missing)
         return schemas.empty() ? [&] {
            SystemObject both = missingSchema(parts);
            both.missing = std::move(found.missing);
            return both;
         }() : found;
      types.push_back(found.oid);
      texts.push_back(textOfType(*argument));
   }
   if (schemas.empty()) return missingSchema(parts);
   for (const Oid schema : schemas) {
      if (const auto function = snapshot().findFunction(schema, parts.back(), types))
         return found(type, parts, function->info());
      for (const catalog::FunctionInfo* candidate : builtins().functions(parts.back()))
         if (candidate->schema == schema &&
             std::equal(candidate->argTypes.begin(), candidate->argTypes.end(), types.begin(), types.end()))
            return found(type, parts, *candidate);
   }
   const std::string noun(type == OBJECT_ROUTINE ? "function" : objectKindNoun(type));
   const std::string arguments = type == OBJECT_AGGREGATE && types.empty() ? "*" : typeList(types);
   return missing(sqlstate::undefinedFunction, noun + " " + joined(parts) + "(" + arguments + ") does not exist",
                  std::string(objectKindNoun(type)) + " " + joined(parts) + "(" + joined(texts, ",") +
                      ") does not exist");
}

SystemObject Search::op(const ::ObjectWithArgs& object) {
   const std::vector<std::string> parts = partsOf(reinterpret_cast<const ::Node*>(object.objname));
   const std::vector<Oid> schemas = schemasOf(parts);
   Oid sides[2] = {invalidOid, invalidOid};
   size_t count = 0;
   SystemObject noType;
   for (const ::TypeName* argument : ListOf<::TypeName>(object.objargs)) {
      if (argument && count < 2) {
         SystemObject found = type(*argument, false);
         sides[count] = found.oid;
         if (found.missing && !noType.missing) noType = std::move(found);
      }
      ++count;
   }
   const std::string name = joined(parts);
   if (!noType.missing)
      if (const catalog::OperatorInfo* op =
              catalog::findExactOperator(snapshot(), schemas, parts.back(), sides[0], sides[1]))
         return {catalog::class_oid::pgOperator,
                 op->oid,
                 "operator " + catalog::regoperatorOut(names_, op->oid),
                 {},
                 {},
                 {}};
   SystemObject result =
       noType.missing ? std::move(noType)
       : sides[1] == invalidOid
           ? missing(sqlstate::syntaxError, "postfix operators are not supported",
                     "operator " + name + " does not exist")
           : missing(sqlstate::undefinedFunction,
                     "operator does not exist: " + (sides[0] == invalidOid ? "" : typeText(sides[0]) + " ") + name +
                         " " + typeText(sides[1]),
                     "operator " + name + " does not exist");
   if (schemas.empty()) result.skipped = missingSchema(parts).skipped;
   return result;
}

SystemObject Search::cast(const ::TypeName& source, const ::TypeName& target) {
   const SystemObject from = type(source, false), to = type(target, false);
   if (from.missing) return from;
   if (to.missing) return to;
   const std::string types = typeText(from.oid) + " to ";
   if (const auto own = snapshot().findCast(from.oid, to.oid))
      return {catalog::class_oid::pgCast, own->oid, "cast from " + types + typeText(to.oid), {}, {}, {}};
   if (builtins().cast(from.oid, to.oid))
      return {2605,
              findRow("pg_cast", {{"castsource", std::to_string(from.oid)}, {"casttarget", std::to_string(to.oid)}}),
              "cast from " + types + typeText(to.oid),
              {},
              {},
              {}};
   return missing(sqlstate::undefinedObject, "cast from type " + types + "type " + typeText(to.oid) + " does not exist",
                  "cast from type " + textOfType(source) + " to type " + textOfType(target) + " does not exist");
}

SystemObject Search::transform(const ::TypeName& name, const std::string& language) {
   const SystemObject of = type(name, false);
   if (of.missing) return of;
   const std::string skipped =
       "transform for type " + textOfType(name) + " language \"" + language + "\" does not exist";
   if (findRow("pg_language", {{"lanname", language}}) == invalidOid)
      return missing(sqlstate::undefinedObject, "language \"" + language + "\" does not exist", skipped);
   return missing(sqlstate::undefinedObject,
                  "transform for type " + typeText(of.oid) + " language \"" + language + "\" does not exist", skipped);
}

SystemObject Search::named(const NamedCatalog& kind, std::vector<std::string> parts, const std::string& accessMethod) {
   const std::string noun(objectKindNoun(kind.type));
   const bool ofMethod = !accessMethod.empty();
   const Oid method = ofMethod ? findRow("pg_am", {{"amname", accessMethod}}) : invalidOid;
   if (ofMethod && method == invalidOid)
      throw SqlError(sqlstate::undefinedObject, "access method \"" + accessMethod + "\" does not exist");
   const std::vector<Oid> schemas = kind.schema ? schemasOf(parts) : std::vector<Oid>();
   if (kind.schema && schemas.empty()) return missingSchema(parts);
   Oid oid = kind.type == OBJECT_EXTENSION ? extension(parts.back()) : Oid{invalidOid};
   if (kind.catalog && !kind.schema)
      oid = findRow(kind.catalog, {{kind.name, parts.back()}});
   else if (kind.catalog)
      for (size_t i = 0; i < schemas.size() && oid == invalidOid; ++i) {
         const std::string schema = std::to_string(schemas[i]);
         oid = !ofMethod ? findRow(kind.catalog, {{kind.name, parts.back()}, {kind.schema, schema}})
                         : findRow(kind.catalog,
                                   {{kind.name, parts.back()},
                                    {kind.schema, schema},
                                    {kind.type == OBJECT_OPCLASS ? "opcmethod" : "opfmethod", std::to_string(method)}});
      }
   if (oid != invalidOid)
      return {kind.classOid,
              oid,
              noun + " " + catalog::quoteIdentifier(parts.back()) +
                  (ofMethod ? " for access method " + catalog::quoteIdentifier(accessMethod) : ""),
              {},
              {},
              {}};
   const std::string name = noun + " \"" + joined(parts) + "\"";
   if (kind.type == OBJECT_COLLATION)
      return missing(sqlstate::undefinedObject, name + " for encoding \"UTF8\" does not exist",
                     name + " does not exist");
   return missing(sqlstate::undefinedObject,
                  name + " does not exist" + (ofMethod ? " for access method \"" + accessMethod + "\"" : ""));
}

SystemObject Search::partOfRelation(::ObjectType type, const catalog::QualifiedName& relation,
                                    const std::string& name) {
   if (!relation.schema.empty() && relation.schema != "pg_temp" && !snapshot().findSchema(relation.schema))
      return missing(sqlstate::undefinedSchema, "schema \"" + relation.schema + "\" does not exist");
   const auto table = catalog::findRelation(snapshot(), path_, relation);
   if (!table) return missing(sqlstate::undefinedTable, "relation \"" + relation.text() + "\" does not exist");
   if (type == OBJECT_RULE && name == "_RETURN" && table->relationKind == catalog::RelationKind::View) {
      const std::string view = "view " + catalog::displayName(snapshot(), path_, *table);
      return {catalog::class_oid::pgRewrite, invalidOid, "rule _RETURN on " + view, view, {}, {}};
   }
   const std::string start = std::string(objectKindNoun(type)) + " \"" + name + "\" for ";
   const std::string end = "\"" + table->name + "\" does not exist";
   return missing(sqlstate::undefinedObject, start + (type == OBJECT_RULE ? "relation " : "table ") + end,
                  start + "relation " + end);
}

const NamedCatalog* namedCatalog(::ObjectType type) {
   for (const NamedCatalog& kind : namedCatalogs)
      if (kind.type == type) return &kind;
   return nullptr;
}

} // namespace

SystemObject findSystemObject(SessionCore& core, ::ObjectType type, std::vector<std::string> name) {
   Search search(core);
   if (type == OBJECT_TYPE || type == OBJECT_DOMAIN || type == OBJECT_DOMCONSTRAINT)
      return search.type(std::move(name), false, type != OBJECT_TYPE);
   const NamedCatalog* kind = namedCatalog(type);
   if (!kind) throwNotSupported("naming a " + std::string(objectKindNoun(type)));
   if (type != OBJECT_OPCLASS && type != OBJECT_OPFAMILY) return search.named(*kind, std::move(name));
   const std::string method = name.front();
   name.erase(name.begin());
   return search.named(*kind, std::move(name), method);
}

SystemObject findPartOfRelation(SessionCore& core, ::ObjectType type, catalog::QualifiedName relation,
                                const std::string& name) {
   return Search(core).partOfRelation(type, relation, name);
}

SystemObject findSystemObject(SessionCore& core, ::ObjectType type, const ::Node* object) {
   Search search(core);
   switch (type) {
   case OBJECT_TYPE:
   case OBJECT_DOMAIN:
      if (isNode(object, T_TypeName)) return search.type(*as<::TypeName>(object), type == OBJECT_DOMAIN);
      return findSystemObject(core, type, partsOf(object));
   case OBJECT_FUNCTION:
   case OBJECT_PROCEDURE:
   case OBJECT_ROUTINE:
   case OBJECT_AGGREGATE: return search.routine(type, *as<::ObjectWithArgs>(object));
   case OBJECT_OPERATOR: return search.op(*as<::ObjectWithArgs>(object));
   case OBJECT_CAST: {
      const ListOf<::TypeName> types(as<::List>(object));
      return search.cast(*types.front(), *types.back());
   }
   case OBJECT_TRANSFORM: {
      const ListOf<> parts(as<::List>(object));
      return search.transform(*as<::TypeName>(parts.front()), std::string(stringOf(parts.back())));
   }
   case OBJECT_DOMCONSTRAINT: {
      // COMMENT names the type and the constraint, ALTER the type alone.
      const ListOf<> parts(as<::List>(object));
      if (!isNode(parts.front(), T_TypeName)) return search.type(partsOf(object), false, true);
      return search.type(*as<::TypeName>(parts.front()), true);
   }
   case OBJECT_LARGEOBJECT: {
      const std::string oid =
          isNode(object, T_Float) ? as<::Float>(object)->fval : std::to_string(as<::Integer>(object)->ival);
      return missing(sqlstate::undefinedObject, "large object " + oid + " does not exist");
   }
   case OBJECT_TRIGGER:
   case OBJECT_RULE:
   case OBJECT_POLICY: {
      std::vector<std::string> parts = partsOf(object);
      const std::string name = std::move(parts.back());
      parts.pop_back();
      return search.partOfRelation(type, catalog::toQualifiedName(std::move(parts)), name);
   }
   default: return findSystemObject(core, type, partsOf(object));
   }
}

} // namespace ouzel::engine
