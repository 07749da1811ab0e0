#include <algorithm>
#include <charconv>

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/text_table.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/range_constructors.hpp"
#include "catalog/object/system_relations.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

using MaybeOid = std::optional<Oid>;

/// The OID if the text is a number or "-", which all alias types accept; else empty.
MaybeOid numeric(std::string_view text) {
   if (text == "-") return invalidOid;
   if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
   Oid value = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   if (error != std::errc())
      throw SqlError(sqlstate::numericValueOutOfRange,
                     "value \"" + std::string(text) + "\" is out of range for type oid");
   return value;
}

template <typename Find>
MaybeOid unlessMissing(Find&& find) {
   try {
      return find();
   } catch (const SqlError& error) {
      for (const SqlState missing : {sqlstate::undefinedTable, sqlstate::undefinedSchema, sqlstate::undefinedFunction,
                                     sqlstate::undefinedObject, sqlstate::ambiguousFunction})
         if (error.state() == missing) return std::nullopt;
      throw;
   }
}

std::string shown(const NameContext& context, Oid schema, std::string_view name, bool isVisible) {
   const std::string quoted = quoteIdentifier(name);
   if (isVisible) return quoted;
   const SchemaPtr found = context.snapshot.schema(schema);
   return found ? quoteIdentifier(found->name) + "." + quoted : quoted;
}

/// The schemas that may contain an optionally qualified name; moves the unqualified name to `name`.
std::vector<Oid> schemasOf(const NameContext& context, std::vector<std::string> parts, std::string& name) {
   name = std::move(parts.back());
   parts.pop_back();
   if (parts.empty()) return context.path.schemas;
   return {requireSchema(context.snapshot, context.path, parts.back())};
}

bool isIn(const std::vector<Oid>& schemas, Oid schema) {
   return std::find(schemas.begin(), schemas.end(), schema) != schemas.end();
}

std::string argumentList(const NameContext& context, std::span<const Oid> types) {
   std::string list;
   for (const Oid type : types)
      list += (list.empty() ? "" : ",") + formatType(context, type, std::nullopt);
   return list;
}

/// The parts of "name(type,type)", with parsed types; NONE, if allowed, is invalidOid.
struct Signature {
   std::string_view name;
   std::vector<Oid> types;
};
Signature parseSignature(const NameContext& context, std::string_view text, bool allowNone) {
   Signature result;
   bool quoted = false;
   size_t open = 0;
   for (; open < text.size() && (quoted || text[open] != '('); ++open)
      if (text[open] == '"') quoted = !quoted;
   if (open == text.size()) throw SqlError(sqlstate::invalidTextRepresentation, "expected a left parenthesis");
   result.name = text.substr(0, open);
   size_t close = text.find_last_not_of(" \t\n\r\f\v");
   if (text[close] != ')') throw SqlError(sqlstate::invalidTextRepresentation, "expected a right parenthesis");
   std::string_view list = text.substr(open + 1, close - open - 1);
   int depth = 0;
   size_t start = 0;
   if (list.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos) return result;
   for (size_t i = 0; i <= list.size(); ++i) {
      if (i < list.size() && (list[i] == '(' || list[i] == '[')) ++depth;
      if (i < list.size() && (list[i] == ')' || list[i] == ']')) --depth;
      if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
      std::string_view item = list.substr(start, i - start);
      start = i + 1;
      std::string lower;
      for (const char c : item)
         if (c != ' ') lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
      result.types.push_back(allowNone && lower == "none" ? invalidOid : parseTypeName(context, item));
   }
   return result;
}

[[noreturn]] void throwNoFunction(std::string_view text) {
   throw SqlError(sqlstate::undefinedFunction, "function \"" + std::string(text) + "\" does not exist");
}
[[noreturn]] void throwNoOperator(std::string_view text) {
   throw SqlError(sqlstate::undefinedFunction, "operator does not exist: " + std::string(text));
}

/// The schemas that may contain an operator; moves the unqualified name to `name`. An operator's name is no identifier,
/// so "pg_catalog.+" is split at the last dot before the symbol.
std::vector<Oid> operatorSchemas(const NameContext& context, std::string_view text, std::string_view& name) {
   const size_t symbol = text.find_first_of("+-*/<>=~!@#%^&|`?");
   const size_t dot = text.rfind('.', symbol);
   if (dot == std::string_view::npos || symbol == std::string_view::npos) {
      name = text;
      return context.path.schemas;
   }
   name = text.substr(dot + 1);
   return {requireSchema(context.snapshot, context.path, parseQualifiedName(text.substr(0, dot)).back())};
}

} // namespace

std::string regclassOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   const RelationPtr relation = context.snapshot.relation(oid);
   return relation ? displayName(context.snapshot, context.path, *relation) : std::to_string(oid);
}

RelationPtr relationNamed(const NameContext& context, std::string_view text) {
   const QualifiedName name = toQualifiedName(parseQualifiedName(text));
   if (RelationPtr found = findRelation(context.snapshot, context.path, name)) return found;
   if (!name.schema.empty()) requireSchema(context.snapshot, context.path, name.schema);
   return requireRelation(context.snapshot, context.path, name); // throws
}
Oid regclassIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   return relationNamed(context, text)->oid;
}
MaybeOid toRegclass(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return relationNamed(context, text)->oid; });
}

std::string regtypeOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   std::string name = formatType(context, oid, std::nullopt);
   return name == "???" ? std::to_string(oid) : name;
}
Oid regtypeIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   const Oid found = parseTypeName(context, text);
   requireNoShell(context, found, text);
   return found;
}

std::string regprocOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   if (function == nullptr) return std::to_string(oid);
   // The name is qualified if the unqualified name does not find exactly this function: hidden or overloaded.
   const size_t found =
       functionsNamed(context.snapshot, context.path, QualifiedName::of(std::string(function->name))).size();
   return shown(context, function->schema, function->name, found == 1 && isIn(context.path.schemas, function->schema));
}

namespace {

Oid functionNamed(const NameContext& context, std::string_view text) {
   const QualifiedName name = toQualifiedName(parseQualifiedName(text));
   if (!name.schema.empty()) requireSchema(context.snapshot, context.path, name.schema);
   const FunctionInfo* match = nullptr;
   for (const FunctionInfo* candidate : functionsNamed(context.snapshot, context.path, name)) {
      if (match != nullptr)
         throw SqlError(sqlstate::ambiguousFunction, "more than one function named \"" + std::string(text) + "\"");
      match = candidate;
   }
   if (match == nullptr) throwNoFunction(text);
   return match->oid;
}

} // namespace

Oid regprocIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   return functionNamed(context, text);
}
MaybeOid toRegproc(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return functionNamed(context, text); });
}

std::string regprocedureOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   if (const FunctionPtr own = context.snapshot.function(oid)) return signatureOf(context.snapshot, context.path, *own);
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   if (function == nullptr) return std::to_string(oid);
   return shown(context, function->schema, function->name, isFunctionVisible(context, oid).value_or(false)) + "(" +
          argumentList(context, function->argTypes) + ")";
}

namespace {

Oid functionOf(const NameContext& context, const Signature& signature, std::string_view text) {
   std::string name;
   const std::vector<Oid> schemas = schemasOf(context, parseQualifiedName(signature.name), name);
   for (const Oid schema : schemas) {
      if (const FunctionPtr own = context.snapshot.findFunction(schema, name, signature.types)) return own->oid;
      if (const RelationPtr type = context.snapshot.findRelation(schema, name))
         for (const FunctionInfo& constructor : listedRangeConstructors(*type))
            if (std::ranges::equal(constructor.argTypes, signature.types)) return constructor.oid;
      for (const FunctionInfo* candidate : builtins().functions(name))
         if (candidate->schema == schema && std::equal(candidate->argTypes.begin(), candidate->argTypes.end(),
                                                       signature.types.begin(), signature.types.end()))
            return candidate->oid;
   }
   throwNoFunction(text);
}

} // namespace

Oid regprocedureIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   return functionOf(context, parseSignature(context, text, false), text);
}
MaybeOid toRegprocedure(const NameContext& context, std::string_view text) {
   const Signature signature = parseSignature(context, text, false);
   return unlessMissing([&] { return functionOf(context, signature, text); });
}

std::string regoperOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "0";
   const OperatorInfo* op = operatorInfo(context.snapshot, oid);
   if (op == nullptr) return std::to_string(oid);
   const SchemaPtr schema = context.snapshot.schema(op->schema);
   const size_t count =
       builtins().operators(op->name).size() + operatorsNamed(context.snapshot, context.path, {}, op->name).size();
   const bool isUnique = count == 1 && isIn(context.path.schemas, op->schema);
   return (isUnique || !schema ? std::string() : quoteIdentifier(schema->name) + ".") + std::string(op->name);
}

namespace {

Oid operatorNamed(const NameContext& context, std::string_view text) {
   std::string_view name;
   const std::vector<Oid> schemas = operatorSchemas(context, text, name);
   const OperatorInfo* match = nullptr;
   for (const OperatorInfo* candidate : builtins().operators(name)) {
      if (!isIn(schemas, candidate->schema)) continue;
      if (match != nullptr)
         throw SqlError(sqlstate::ambiguousFunction, "more than one operator named " + std::string(text));
      match = candidate;
   }
   for (const Oid schema : schemas)
      for (const OperatorPtr& own : context.snapshot.findOperators(schema, name)) {
         if (match != nullptr)
            throw SqlError(sqlstate::ambiguousFunction, "more than one operator named " + std::string(text));
         match = &own->info();
      }
   if (match == nullptr) throwNoOperator(text);
   return match->oid;
}

} // namespace

Oid regoperIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text); number && text != "-") return *number;
   return operatorNamed(context, text);
}
MaybeOid toRegoper(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return operatorNamed(context, text); });
}

std::string regoperatorOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "0";
   if (const OperatorPtr own = context.snapshot.op(oid)) return signatureOf(context.snapshot, context.path, *own);
   const OperatorInfo* op = builtins().operatorByOid(oid);
   if (op == nullptr) return std::to_string(oid);
   const auto side = [&](Oid type) { return type == invalidOid ? "NONE" : formatType(context, type, std::nullopt); };
   return std::string(op->name) + "(" + side(op->left) + "," + side(op->right) + ")";
}

namespace {

/// Empty if there is none; a schema that does not exist has none.
MaybeOid findOperator(const NameContext& context, std::string_view text) {
   const Signature signature = parseSignature(context, text, true);
   if (signature.types.size() == 1)
      throw SqlError(sqlstate::undefinedParameter, "missing argument")
          .hint("Use NONE to denote the missing argument of a unary operator.");
   if (signature.types.size() != 2)
      throw SqlError(sqlstate::tooManyArguments, "too many arguments").hint("Provide two argument types for operator.");
   return unlessMissing([&] {
      std::string_view name;
      const std::vector<Oid> schemas = operatorSchemas(context, signature.name, name);
      const OperatorInfo* op =
          findExactOperator(context.snapshot, schemas, name, signature.types[0], signature.types[1]);
      if (op == nullptr) throwNoOperator(text);
      return op->oid;
   });
}

} // namespace

Oid regoperatorIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text); number && text != "-") return *number;
   const MaybeOid found = findOperator(context, text);
   if (!found) throwNoOperator(text);
   return *found;
}
MaybeOid toRegoperator(const NameContext& context, std::string_view text) {
   return findOperator(context, text);
}

std::string regnamespaceOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   const SchemaPtr schema = context.snapshot.schema(oid);
   return schema ? quoteIdentifier(schema->name) : std::to_string(oid);
}
namespace {

Oid schemaNamed(const NameContext& context, std::string_view text) {
   const std::vector<std::string> parts = parseQualifiedName(text);
   if (parts.size() != 1) throw SqlError(sqlstate::invalidName, "invalid name syntax");
   return requireSchema(context.snapshot, context.path, parts[0]);
}

} // namespace

Oid regnamespaceIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   return schemaNamed(context, text);
}
MaybeOid toRegnamespace(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return schemaNamed(context, text); });
}

std::string regroleOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   const RolePtr role = context.snapshot.role(oid);
   return role ? quoteIdentifier(role->name) : std::to_string(oid);
}
namespace {

Oid roleNamed(const NameContext& context, std::string_view text) {
   const std::vector<std::string> parts = parseQualifiedName(text);
   if (parts.size() != 1) throw SqlError(sqlstate::invalidName, "invalid name syntax");
   const RolePtr role = context.snapshot.findRole(parts[0]);
   if (!role) throw SqlError(sqlstate::undefinedObject, "role \"" + parts[0] + "\" does not exist");
   return role->oid;
}

} // namespace

Oid regroleIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   return roleNamed(context, text);
}
MaybeOid toRegrole(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return roleNamed(context, text); });
}

std::string regcollationOut(const NameContext& context, Oid oid) {
   if (oid == invalidOid) return "-";
   const auto collation = collationInfo(context.snapshot, oid);
   return collation ? displayName(context.snapshot, context.path, *collation) : std::to_string(oid);
}
Oid regcollationIn(const NameContext& context, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   std::vector<std::string> parts = parseQualifiedName(text);
   if (parts.size() > 3)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + std::string(text));
   return requireCollation(context.snapshot, context.path, toQualifiedName(std::move(parts))).oid;
}
MaybeOid toRegcollation(const NameContext& context, std::string_view text) {
   return unlessMissing([&] { return regcollationIn(context, text); });
}

namespace {

ObjectKind textSearchKind(Oid regType) {
   return regType == oid::regconfig ? ObjectKind::TextSearchConfiguration : ObjectKind::TextSearchDictionary;
}

std::string textSearchOut(const NameContext& context, Oid regType, Oid oid) {
   if (oid == invalidOid) return "-";
   const TextSearchPtr object = textSearchObject(context.snapshot, textSearchKind(regType), oid);
   return object ? displayName(context.snapshot, context.path, *object) : std::to_string(oid);
}

} // namespace

Oid regTextSearchIn(const NameContext& context, Oid regType, std::string_view text) {
   if (const MaybeOid number = numeric(text)) return *number;
   std::vector<std::string> parts = parseQualifiedName(text);
   if (parts.size() > 3)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + std::string(text));
   return requireTextSearch(context.snapshot, context.path, textSearchKind(regType), toQualifiedName(std::move(parts)))
       ->oid;
}

std::string regOut(const NameContext& context, Oid regType, Oid oid) {
   switch (regType) {
   case oid::regclass: return regclassOut(context, oid);
   case oid::regtype: return regtypeOut(context, oid);
   case oid::regproc: return regprocOut(context, oid);
   case oid::regprocedure: return regprocedureOut(context, oid);
   case oid::regoper: return regoperOut(context, oid);
   case oid::regoperator: return regoperatorOut(context, oid);
   case oid::regnamespace: return regnamespaceOut(context, oid);
   case oid::regrole: return regroleOut(context, oid);
   case oid::regcollation: return regcollationOut(context, oid);
   case oid::regconfig:
   case oid::regdictionary: return textSearchOut(context, regType, oid);
   default: return std::to_string(oid);
   }
}

Oid regIn(const NameContext& context, Oid regType, std::string_view text) {
   switch (regType) {
   case oid::regclass: return regclassIn(context, text);
   case oid::regtype: return regtypeIn(context, text);
   case oid::regproc: return regprocIn(context, text);
   case oid::regprocedure: return regprocedureIn(context, text);
   case oid::regoper: return regoperIn(context, text);
   case oid::regoperator: return regoperatorIn(context, text);
   case oid::regnamespace: return regnamespaceIn(context, text);
   case oid::regrole: return regroleIn(context, text);
   case oid::regcollation: return regcollationIn(context, text);
   case oid::regconfig:
   case oid::regdictionary: return regTextSearchIn(context, regType, text);
   default: throwNotSupported("input of this object identifier type");
   }
}

std::optional<bool> isTableVisible(const NameContext& context, Oid oid) {
   const RelationPtr relation = context.snapshot.relation(oid);
   if (!relation) return std::nullopt;
   return isVisible(context.snapshot, context.path, *relation);
}

std::optional<bool> isFunctionVisible(const NameContext& context, Oid oid) {
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   return function != nullptr ? std::optional(isVisible(context.snapshot, context.path, *function)) : std::nullopt;
}

std::optional<bool> isOperatorVisible(const NameContext& context, Oid oid) {
   if (const OperatorPtr own = context.snapshot.op(oid)) return isVisible(context.snapshot, context.path, *own);
   const OperatorInfo* op = builtins().operatorByOid(oid);
   if (op == nullptr) return std::nullopt;
   return isIn(context.path.schemas, op->schema);
}

std::optional<bool> isCollationVisible(const NameContext& context, Oid oid) {
   const auto collation = collationInfo(context.snapshot, oid);
   return collation ? std::optional(isVisible(context.snapshot, context.path, *collation)) : std::nullopt;
}

std::optional<bool> isBuiltinVisible(const NameContext& context, std::string_view catalog, Oid oid) {
   for (const ObjectKind kind : textSearchKinds)
      if (const TextSearchPtr own = context.snapshot.textSearch(kind, oid); own && textSearchTable(kind) == catalog)
         return isVisible(context.snapshot, context.path, *own);
   const ExtensionClass* made = catalog == "pg_opclass"    ? extensionClass(oid)
                                : catalog == "pg_opfamily" ? extensionFamily(oid)
                                                           : nullptr;
   const ExtensionPtr extension = made ? context.snapshot.findExtension(made->extension) : nullptr;
   if (extension) return isIn(context.path.schemas, extension->schema);
   const TextTable* table = builtins().rows(catalog);
   if (table == nullptr) return std::nullopt;
   const uint32_t column = table->column("oid");
   const std::string wanted = std::to_string(oid);
   for (uint32_t row = 0; row < table->rowCount(); ++row)
      if (*table->at(row, column) == wanted) return isIn(context.path.schemas, pgCatalogSchema);
   return std::nullopt;
}

std::string userName(const Snapshot& snapshot, Oid oid) {
   const RolePtr role = snapshot.role(oid);
   return role ? role->name : "unknown (OID=" + std::to_string(oid) + ")";
}

std::optional<std::string> currentSchema(const NameContext& context) {
   const SchemaPtr schema = context.snapshot.schema(context.path.creation);
   return schema ? std::optional(schema->name) : std::nullopt;
}

std::vector<std::string> currentSchemas(const NameContext& context, bool includeImplicit) {
   std::vector<std::string> names;
   for (const Oid oid : includeImplicit ? context.path.schemas : context.path.explicitly)
      if (const SchemaPtr schema = context.snapshot.schema(oid)) names.push_back(schema->name);
   return names;
}

std::string versionText() {
   return "PostgreSQL 15.13 (Ouzel 0.1.0) on x86_64-pc-linux-gnu, compiled by g++ " __VERSION__ ", 64-bit";
}

namespace {

Oid classOf(std::string_view catalog) {
   constexpr std::pair<std::string_view, Oid> classes[] = {
       {"pg_class", class_oid::pgClass},
       {"pg_type", class_oid::pgType},
       {"pg_proc", class_oid::pgProc},
       {"pg_authid", class_oid::pgAuthid},
       {"pg_database", class_oid::pgDatabase},
       {"pg_attrdef", class_oid::pgAttrdef},
       {"pg_constraint", class_oid::pgConstraint},
       {"pg_namespace", class_oid::pgNamespace},
       {"pg_operator", class_oid::pgOperator},
       {"pg_rewrite", class_oid::pgRewrite},
       {"pg_tablespace", class_oid::pgTablespace},
   };
   for (const auto& [name, oid] : classes)
      if (name == catalog) return oid;
   const RelationPtr relation = findSystemRelation(pgCatalogSchema, catalog);
   return relation ? relation->oid : invalidOid;
}

} // namespace

std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object, std::string_view catalog) {
   const Oid classOid = classOf(catalog);
   return classOid == invalidOid ? std::nullopt : snapshot.comment(classOid, object);
}

std::optional<std::string> objDescription(const Snapshot& snapshot, Oid object) {
   for (const Oid classOid : {class_oid::pgClass, class_oid::pgProc, class_oid::pgType, class_oid::pgOperator,
                              class_oid::pgNamespace, class_oid::pgConstraint})
      if (auto text = snapshot.comment(classOid, object)) return text;
   return std::nullopt;
}

std::optional<std::string> colDescription(const Snapshot& snapshot, Oid relation, int32_t attribute) {
   return attribute == 0 ? std::nullopt : snapshot.comment(class_oid::pgClass, relation, attribute);
}

std::optional<std::string> shobjDescription(const Snapshot& snapshot, Oid object, std::string_view catalog) {
   const Oid classOid = classOf(catalog);
   const bool isShared = classOid == class_oid::pgDatabase || classOid == class_oid::pgAuthid;
   return isShared ? snapshot.comment(classOid, object) : std::nullopt;
}

} // namespace ouzel::catalog
