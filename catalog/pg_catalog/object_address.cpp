#include "catalog/pg_catalog/object_address.hpp"

#include <algorithm>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/published_tables.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel::catalog {

namespace {

/// How the objects of a kind are named.
enum class Naming : uint8_t {
   Relation, ///< s.t
   Column,   ///< s.t.c
   PartOf,   ///< s.t.name
   Type,     ///< the text of a type
   Routine,  ///< s.f and types
   Operator, ///< s.op and two types
   Single,   ///< one name
   Named,    ///< s.name
   OfMethod, ///< access method, s.name
   Pair,     ///< a name and one argument
   Member,   ///< access method, s.family, number; two types
   Unsupported
};

struct Kind {
   const char* type;
   Naming naming;
   Oid classOid;
   const char *catalog = nullptr, *name = nullptr, *schema = nullptr, *method = nullptr; ///< of built-in rows
};

constexpr Kind kinds[] = {
    {"table", Naming::Relation, class_oid::pgClass},
    {"index", Naming::Relation, class_oid::pgClass},
    {"sequence", Naming::Relation, class_oid::pgClass},
    {"view", Naming::Relation, class_oid::pgClass},
    {"materialized view", Naming::Relation, class_oid::pgClass},
    {"foreign table", Naming::Relation, class_oid::pgClass},
    {"table column", Naming::Column, class_oid::pgClass},
    {"foreign table column", Naming::Column, class_oid::pgClass},
    {"default value", Naming::Column, class_oid::pgAttrdef},
    {"table constraint", Naming::PartOf, class_oid::pgConstraint},
    {"rule", Naming::PartOf, class_oid::pgRewrite},
    {"trigger", Naming::PartOf, class_oid::pgTrigger},
    {"policy", Naming::PartOf, class_oid::pgPolicy},
    {"type", Naming::Type, class_oid::pgType},
    {"aggregate", Naming::Routine, class_oid::pgProc},
    {"function", Naming::Routine, class_oid::pgProc},
    {"procedure", Naming::Routine, class_oid::pgProc},
    {"routine", Naming::Routine, class_oid::pgProc},
    {"operator", Naming::Operator, class_oid::pgOperator},
    {"schema", Naming::Single, class_oid::pgNamespace},
    {"role", Naming::Single, class_oid::pgAuthid},
    {"database", Naming::Single, class_oid::pgDatabase},
    {"language", Naming::Single, 2612, "pg_language", "lanname"},
    {"access method", Naming::Single, 2601, "pg_am", "amname"},
    {"tablespace", Naming::Single, class_oid::pgTablespace, "pg_tablespace", "spcname"},
    {"server", Naming::Single, class_oid::pgForeignServer},
    {"foreign-data wrapper", Naming::Single, class_oid::pgForeignDataWrapper},
    {"extension", Naming::Single, 3079},
    {"event trigger", Naming::Single, 3466},
    {"publication", Naming::Single, 6104},
    {"subscription", Naming::Single, 6100},
    {"large object", Naming::Single, 2613},
    {"collation", Naming::Named, class_oid::pgCollation},
    {"conversion", Naming::Named, 2607, "pg_conversion", "conname", "connamespace"},
    {"text search parser", Naming::Named, 3601, "pg_ts_parser", "prsname", "prsnamespace"},
    {"text search dictionary", Naming::Named, 3600, "pg_ts_dict", "dictname", "dictnamespace"},
    {"text search template", Naming::Named, 3764, "pg_ts_template", "tmplname", "tmplnamespace"},
    {"text search configuration", Naming::Named, 3602, "pg_ts_config", "cfgname", "cfgnamespace"},
    {"statistics object", Naming::Named, class_oid::pgStatisticExt},
    {"operator class", Naming::OfMethod, 2616, "pg_opclass", "opcname", "opcnamespace", "opcmethod"},
    {"operator family", Naming::OfMethod, 2753, "pg_opfamily", "opfname", "opfnamespace", "opfmethod"},
    {"cast", Naming::Pair, 2605},
    {"domain constraint", Naming::Pair, class_oid::pgConstraint},
    {"user mapping", Naming::Pair, class_oid::pgUserMapping},
    {"default acl", Naming::Pair, class_oid::pgDefaultAcl},
    {"transform", Naming::Pair, 3576},
    {"publication relation", Naming::Pair, 6106},
    {"publication namespace", Naming::Pair, 6237},
    {"operator of access method", Naming::Member, 2602},
    {"function of access method", Naming::Member, 2603},
    {"toast table", Naming::Unsupported, 0},
    {"composite type", Naming::Unsupported, 0},
    {"index column", Naming::Unsupported, 0},
    {"sequence column", Naming::Unsupported, 0},
    {"toast table column", Naming::Unsupported, 0},
    {"view column", Naming::Unsupported, 0},
    {"materialized view column", Naming::Unsupported, 0},
    {"composite type column", Naming::Unsupported, 0},
    {"publication table", Naming::Unsupported, 0},
};

[[noreturn]] void fail(SqlState state, const std::string& message) {
   throw SqlError(state, message);
}
[[noreturn]] void missing(const std::string& what) {
   fail(sqlstate::undefinedObject, what + " does not exist");
}
std::string quoted(const std::string& name) {
   return "\"" + name + "\"";
}

/// Looks one object up.
class Search {
public:
   Search(const NameContext& context, const Kind& kind, const std::vector<std::string>& names,
          const std::vector<std::string>& args)
      : context_(context), kind_(kind), names_(names), args_(args) {}

   ObjectAddress find() {
      checkLengths();
      switch (kind_.naming) {
      case Naming::Relation: return {kind_.classOid, relation(names_, true)->oid, 0};
      case Naming::Column: return column();
      case Naming::PartOf: return {kind_.classOid, partOf(), 0};
      case Naming::Type: return {kind_.classOid, parseTypeName(context_, names_[0]), 0};
      case Naming::Routine: return {kind_.classOid, routine(), 0};
      case Naming::Operator: return {kind_.classOid, op(), 0};
      case Naming::Single: return {kind_.classOid, single(), 0};
      case Naming::Named: return {kind_.classOid, named(), 0};
      case Naming::OfMethod: return {kind_.classOid, ofMethod(), 0};
      case Naming::Pair: return {kind_.classOid, pair(), 0};
      case Naming::Member: return {kind_.classOid, member(), 0};
      case Naming::Unsupported: break;
      }
      fail(sqlstate::invalidParameterValue, "unsupported object type " + quoted(kind_.type));
   }

private:
   const Snapshot& snapshot() const { return context_.snapshot; }

   void checkLengths() const {
      const auto require = [](bool isRight, const char* list, const char* how, int count) {
         if (!isRight)
            fail(sqlstate::invalidParameterValue,
                 std::string(list) + " list length must be " + how + " " + std::to_string(count));
      };
      const std::string_view type = kind_.type;
      const size_t count = names_.size();
      const bool isOne = kind_.naming == Naming::Type || type == "cast" || type == "transform" ||
                         type == "domain constraint" || type == "large object";
      if (kind_.naming == Naming::Unsupported) return;
      if (isOne) require(count == 1, "name", "exactly", 1);
      require(count >= 1, "name", "at least", 1);
      if (type == "user mapping" || type == "publication namespace") require(count == 1, "name", "exactly", 1);
      if (kind_.naming == Naming::Pair) require(args_.size() == 1, "argument", "exactly", 1);
      if (kind_.naming == Naming::OfMethod) require(count >= 2, "name", "at least", 2);
      if (kind_.naming == Naming::Member) require(count >= 3, "name", "at least", 3);
      if (kind_.naming == Naming::Operator || kind_.naming == Naming::Member)
         require(args_.size() == 2, "argument", "exactly", 2);
      if (kind_.naming == Naming::Single) require(count == 1, "name", "exactly", 1);
   }

   QualifiedName qualifiedName(const std::vector<std::string>& parts) const {
      std::string all;
      for (const std::string& part : parts)
         all += (all.empty() ? "" : ".") + part;
      if (parts.size() > 3) fail(sqlstate::syntaxError, "improper relation name (too many dotted names): " + all);
      if (parts.size() == 3)
         fail(sqlstate::featureNotSupported, "cross-database references are not implemented: " + quoted(all));
      return toQualifiedName(parts);
   }

   RelationPtr relation(const std::vector<std::string>& parts, bool mustBeOfKind) const {
      const QualifiedName name = qualifiedName(parts);
      if (!name.schema.empty()) requireSchema(snapshot(), context_.path, name.schema);
      const RelationPtr found = findRelation(snapshot(), context_.path, name);
      if (!found || found->isOnlyType())
         fail(sqlstate::undefinedTable, "relation " + quoted(name.text()) + " does not exist");
      if (mustBeOfKind && relationKindName(*found) != kind_.type)
         fail(sqlstate::wrongObjectType,
              quoted(found->name) + " is not " + (std::string_view(kind_.type) == "index" ? "an " : "a ") + kind_.type);
      return found;
   }
   /// The relation whose part the last name is.
   RelationPtr whole() const {
      if (names_.size() < 2) fail(sqlstate::syntaxError, "column name must be qualified");
      return relation({names_.begin(), names_.end() - 1}, false);
   }
   std::string wholeText() const { return toQualifiedName({names_.begin(), names_.end() - 1}).text(); }

   ObjectAddress column() const {
      const RelationPtr table = whole();
      const Column* found = table->findColumn(names_.back());
      const std::string text = "column " + quoted(names_.back()) + " of relation " + quoted(wholeText());
      if (!found) fail(sqlstate::undefinedColumn, text + " does not exist");
      if (kind_.classOid == class_oid::pgClass) return {kind_.classOid, table->oid, found->attribute};
      if (!found->hasDefault()) fail(sqlstate::undefinedColumn, "default value for " + text + " does not exist");
      return {kind_.classOid, found->defaultOid, 0};
   }

   Oid partOf() const {
      const RelationPtr table = whole();
      const std::string& name = names_.back();
      if (kind_.classOid == class_oid::pgConstraint) {
         if (const Constraint* found = table->findConstraint(name)) return found->oid;
         missing("constraint " + quoted(name) + " for table " + quoted(table->name));
      }
      if (kind_.classOid == class_oid::pgPolicy) {
         if (const Policy* found = table->findPolicy(name)) return found->oid;
         missing("policy " + quoted(name) + " for table " + quoted(table->name));
      }
      if (kind_.classOid == class_oid::pgTrigger) {
         if (const Trigger* found = table->findTrigger(name)) return found->oid;
         missing("trigger " + quoted(name) + " for table " + quoted(table->name));
      }
      if (name == "_RETURN" && !table->definition.empty()) return viewRuleOf(table->oid);
      missing("rule " + quoted(name) + " for relation " + quoted(table->name));
   }

   std::vector<Oid> argTypes() const {
      std::vector<Oid> types;
      for (const std::string& arg : args_)
         types.push_back(parseTypeName(context_, arg));
      return types;
   }
   std::string typeText(Oid type) const { return formatType(context_, type, std::nullopt); }
   std::string typeList(const std::vector<Oid>& types) const {
      std::string list;
      for (const Oid type : types)
         list += (list.empty() ? "" : ", ") + typeText(type);
      return list;
   }
   bool isSearched(Oid schema) const {
      const size_t others = kind_.naming == Naming::OfMethod ? 2 : 1;
      if (names_.size() > others) return requireSchema(snapshot(), context_.path, names_[names_.size() - 2]) == schema;
      return std::find(context_.path.schemas.begin(), context_.path.schemas.end(), schema) !=
             context_.path.schemas.end();
   }

   void requireKind(FunctionKind found, const std::string& signature) const {
      const std::string_view type = kind_.type;
      if (type == "aggregate" && found != FunctionKind::Aggregate)
         fail(sqlstate::wrongObjectType, "function " + signature + " is not an aggregate");
      if (type == "procedure" && found != FunctionKind::Procedure)
         fail(sqlstate::wrongObjectType, signature + " is not a procedure");
      if (type == "function" && found == FunctionKind::Procedure)
         fail(sqlstate::wrongObjectType, signature + " is not a function");
   }

   Oid routine() const {
      const std::vector<Oid> types = argTypes();
      const std::string_view type = kind_.type;
      const std::string signature = toQualifiedName(names_).text() + "(" + typeList(types) + ")";
      for (const FunctionInfo* function : builtins().functions(names_.back())) {
         const bool isSame =
             std::equal(function->argTypes.begin(), function->argTypes.end(), types.begin(), types.end());
         if (!isSame || !isSearched(function->schema)) continue;
         requireKind(function->kind, signature);
         return function->oid;
      }
      for (const FunctionPtr& own : snapshot().functions())
         if (own->name == names_.back() && own->inputTypes() == types && isSearched(own->schema)) {
            requireKind(own->functionKind, signature);
            return own->oid;
         }
      fail(sqlstate::undefinedFunction,
           (type == "routine" ? "function" : std::string(type)) + " " + signature + " does not exist");
   }

   Oid op() const {
      const Oid left = args_[0] == "-" ? invalidOid : parseTypeName(context_, args_[0]);
      const Oid right = parseTypeName(context_, args_[1]);
      const OperatorInfo* found = builtins().findOperator(names_.back(), left, right);
      if (found && isSearched(found->schema)) return found->oid;
      for (const OperatorPtr& own : snapshot().operators())
         if (own->name == names_.back() && own->left.named() == left && own->right.named() == right &&
             isSearched(own->schema))
            return own->oid;
      fail(sqlstate::undefinedFunction, "operator does not exist: " + (left ? typeText(left) + " " : std::string()) +
                                            names_.back() + " " + typeText(right));
   }

   /// The row of the kind's catalog that has this name, in a schema that is searched.
   Oid builtinRow(const std::string& name, const std::string& method = {}) const {
      if (!kind_.catalog) return invalidOid;
      const TextTable& table = *builtins().rows(kind_.catalog);
      for (uint32_t row = 0; row < table.rowCount(); ++row) {
         const auto text = [&](const char* column) { return *table.at(row, table.column(column)); };
         const auto number = [&](const char* column) {
            return static_cast<Oid>(std::stoul(std::string(text(column))));
         };
         if (text(kind_.name) != name || (kind_.method && text(kind_.method) != method)) continue;
         if (!kind_.schema || isSearched(number(kind_.schema))) return number("oid");
      }
      return invalidOid;
   }

   Oid single() const {
      const std::string& name = names_[0];
      const std::string what = std::string(kind_.type) + " " + quoted(name);
      switch (kind_.classOid) {
      case class_oid::pgNamespace: return requireSchema(snapshot(), context_.path, name);
      case class_oid::pgAuthid:
         if (const RolePtr role = snapshot().findRole(name)) return role->oid;
         break;
      case class_oid::pgDatabase:
         if (const DatabasePtr database = snapshot().findDatabase(name)) return database->oid;
         fail(sqlstate::undefinedDatabase, what + " does not exist");
      case class_oid::pgForeignServer:
         if (const ServerPtr server = snapshot().findServer(name)) return server->oid;
         break;
      case class_oid::pgEventTrigger:
         for (const EventTrigger& trigger : snapshot().database(snapshot().database())->eventTriggers)
            if (trigger.name == name) return trigger.oid;
         break;
      case class_oid::pgLanguage:
         if (const Language* language = findUserLanguage(snapshot(), name)) return language->oid;
         if (const Oid found = builtinRow(name)) return found;
         break;
      case class_oid::pgPublication:
         if (const Publication* publication = findPublication(snapshot(), name)) return publication->oid;
         break;
      case class_oid::pgExtension:
         if (const auto* builtin = findBuiltinExtension(name)) return builtin->oid;
         if (const ExtensionPtr extension = snapshot().findExtension(name)) return extension->oid;
         break;
      case class_oid::pgForeignDataWrapper:
         if (const ForeignWrapperPtr wrapper = snapshot().findWrapper(name)) return wrapper->oid;
         break;
      case 2613:
         if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos)
            fail(sqlstate::invalidTextRepresentation, "invalid input syntax for type oid: " + quoted(name));
         if (uint32_t oid = 0; parseUnsigned32(name, oid) == ParseStatus::Ok && snapshot().largeObject(oid)) return oid;
         missing("large object " + name);
      default:
         if (const Oid found = builtinRow(name)) return found;
      }
      missing(what);
   }

   Oid named() const {
      const QualifiedName name = toQualifiedName(names_);
      if (!name.schema.empty()) requireSchema(snapshot(), context_.path, name.schema);
      if (kind_.classOid == class_oid::pgStatisticExt) {
         if (const StatisticsPtr found = findStatistics(snapshot(), context_.path, name)) return found->oid;
      } else if (kind_.classOid == class_oid::pgCollation) {
         return requireCollation(snapshot(), context_.path, name).oid;
      } else if (const auto kind = textSearchKindOf(kind_.classOid)) {
         return requireTextSearch(snapshot(), context_.path, *kind, name)->oid;
      } else if (const Oid found = builtinRow(name.name)) {
         return found;
      }
      missing(std::string(kind_.type) + " " + quoted(name.text()));
   }

   std::string methodNumber() const {
      const TextTable& methods = *builtins().rows("pg_am");
      for (uint32_t row = 0; row < methods.rowCount(); ++row)
         if (*methods.at(row, methods.column("amname")) == names_[0])
            return std::string(*methods.at(row, methods.column("oid")));
      missing("access method " + quoted(names_[0]));
   }

   Oid ofMethod() const {
      const std::string method = methodNumber();
      if (const Oid found = builtinRow(names_.back(), method)) return found;
      fail(sqlstate::undefinedObject, std::string(kind_.type) + " " + quoted(names_.back()) +
                                          " does not exist for access method " + quoted(names_[0]));
   }

   Oid pair() const {
      const std::string &name = names_[0], &argument = args_[0];
      switch (kind_.classOid) {
      case 2605: {
         const Oid source = parseTypeName(context_, name), target = parseTypeName(context_, argument);
         if (const CastPtr own = snapshot().findCast(source, target)) return own->oid;
         const TextTable& casts = *builtins().rows("pg_cast");
         for (uint32_t row = 0; row < casts.rowCount(); ++row)
            if (*casts.at(row, casts.column("castsource")) == std::to_string(source) &&
                *casts.at(row, casts.column("casttarget")) == std::to_string(target))
               return static_cast<Oid>(std::stoul(std::string(*casts.at(row, casts.column("oid")))));
         missing("cast from type " + typeText(source) + " to type " + typeText(target));
      }
      case class_oid::pgConstraint: {
         const Oid type = parseTypeName(context_, name);
         const RelationPtr domain = snapshot().relationOfType(type);
         const Constraint* found = domain ? domain->findConstraint(argument) : nullptr;
         if (found) return found->oid;
         missing("constraint " + quoted(argument) + " for domain " + typeText(type));
      }
      case class_oid::pgDefaultAcl: return defaultAcl();
      case class_oid::pgUserMapping: {
         const RolePtr role = snapshot().findRole(name);
         const ServerPtr server = snapshot().findServer(argument);
         if (role && !server) missing("server " + quoted(argument));
         if (role || name == "public")
            if (const auto* mapping = server ? server->mappingOf(role ? role->oid : invalidOid) : nullptr)
               return mapping->oid;
         missing("user mapping for user " + quoted(name) + " on server " + quoted(argument));
      }
      case 3576:
         requireRow("pg_language", "lanname", argument, "language");
         missing("transform for type " + typeText(parseTypeName(context_, name)) + " language " + quoted(argument));
      default: return publicationPart();
      }
   }

   /// A table or a schema of a publication.
   Oid publicationPart() const {
      const bool isTable = kind_.classOid == class_oid::pgPublicationRel;
      const RelationPtr table = isTable ? relation(names_, false) : nullptr;
      const Oid schema = isTable ? invalidOid : requireSchema(snapshot(), context_.path, names_[0]);
      const Publication* publication = findPublication(snapshot(), args_[0]);
      if (!publication) missing("publication " + quoted(args_[0]));
      if (!isTable) {
         for (const PublicationSchema& one : publication->schemas)
            if (one.schema == schema) return one.oid;
         missing("publication schema " + quoted(names_[0]) + " in publication " + quoted(args_[0]));
      }
      for (const PublicationTable& one : publication->tables)
         if (one.table == table->oid) return one.oid;
      missing("publication relation " + quoted(table->name) + " in publication " + quoted(args_[0]));
   }

   static void requireRow(const char* catalog, const char* column, const std::string& name, const char* what) {
      const TextTable& table = *builtins().rows(catalog);
      for (uint32_t row = 0; row < table.rowCount(); ++row)
         if (*table.at(row, table.column(column)) == name) return;
      missing(std::string(what) + " " + quoted(name));
   }

   Oid defaultAcl() const {
      constexpr std::pair<char, const char*> letters[] = {
          {'r', "tables"}, {'S', "sequences"}, {'f', "functions"}, {'T', "types"}, {'n', "schemas"}};
      const auto kind = std::find_if(std::begin(letters), std::end(letters),
                                     [&](const auto& letter) { return args_[0] == std::string(1, letter.first); });
      if (kind == std::end(letters))
         throw SqlError(sqlstate::invalidParameterValue, "unrecognized default ACL object type " + quoted(args_[0]))
             .hint("Valid object types are \"r\", \"S\", \"f\", \"T\", \"n\".");
      const RolePtr role = snapshot().findRole(names_[0]);
      const SchemaPtr schema = names_.size() > 1 ? snapshot().findSchema(names_[1]) : nullptr;
      for (const auto& defaults : snapshot().defaultAcls())
         if (role && defaults->role == role->oid && defaults->objects == kind->first &&
             defaults->schema == (schema ? schema->oid : invalidOid) && (schema || names_.size() < 2))
            return defaults->oid;
      missing("default ACL for user " + quoted(names_[0]) +
              (names_.size() > 1 ? " in schema " + quoted(names_[1]) : std::string()) + " on " + kind->second);
   }

   Oid member() const {
      const bool isOperator = kind_.classOid == 2602;
      const std::vector<Oid> types = argTypes();
      const std::string method = methodNumber(), family = names_[names_.size() - 2], number = names_.back();
      const TextTable& families = *builtins().rows("pg_opfamily");
      const TextTable& rows = *builtins().rows(isOperator ? "pg_amop" : "pg_amproc");
      const auto column = [&](const char* ofOperator, const char* ofFunction) {
         return rows.column(isOperator ? ofOperator : ofFunction);
      };
      for (uint32_t f = 0; f < families.rowCount(); ++f) {
         if (*families.at(f, families.column("opfname")) != family ||
             *families.at(f, families.column("opfmethod")) != method)
            continue;
         for (uint32_t row = 0; row < rows.rowCount(); ++row)
            if (*rows.at(row, column("amopfamily", "amprocfamily")) == *families.at(f, families.column("oid")) &&
                *rows.at(row, column("amoplefttype", "amproclefttype")) == std::to_string(types[0]) &&
                *rows.at(row, column("amoprighttype", "amprocrighttype")) == std::to_string(types[1]) &&
                *rows.at(row, column("amopstrategy", "amprocnum")) == number)
               return static_cast<Oid>(std::stoul(std::string(*rows.at(row, rows.column("oid")))));
         missing(std::string(isOperator ? "operator " : "function ") + number + " (" + args_[0] + ", " + args_[1] +
                 ") of operator family " + family + " for access method " + names_[0]);
      }
      fail(sqlstate::undefinedObject,
           "operator family " + quoted(family) + " does not exist for access method " + quoted(names_[0]));
   }

   const NameContext& context_;
   const Kind& kind_;
   const std::vector<std::string>&names_, &args_;
};

} // namespace

ObjectAddress objectAddress(const NameContext& context, const std::string& type, const std::vector<std::string>& names,
                            const std::vector<std::string>& args) {
   for (const Kind& kind : kinds)
      if (kind.type == type) return Search(context, kind, names, args).find();
   fail(sqlstate::invalidParameterValue, "unrecognized object type " + quoted(type));
}

} // namespace ouzel::catalog
