#include <algorithm>
#include <array>

#include "catalog/object/extension_types.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}
bool isDigit(char c) {
   return c >= '0' && c <= '9';
}

/// A type whose SQL name is words: the words before and after a modifier ("time(3) with time zone").
struct SqlSpelling {
   Oid type;
   std::string_view before, after;
};
constexpr SqlSpelling spellings[] = {
    {oid::boolean, "boolean", ""},
    {oid::bpchar, "character", ""},
    {oid::float4, "real", ""},
    {oid::float8, "double precision", ""},
    {oid::int2, "smallint", ""},
    {oid::int4, "integer", ""},
    {oid::int8, "bigint", ""},
    {oid::numeric, "numeric", ""},
    {oid::interval, "interval", ""},
    {oid::time, "time", " without time zone"},
    {oid::timetz, "time", " with time zone"},
    {oid::timestamp, "timestamp", " without time zone"},
    {oid::timestamptz, "timestamp", " with time zone"},
    {oid::varbit, "bit varying", ""},
    {oid::varchar, "character varying", ""},
};

/// Fields of an interval modifier, by bits of its upper half.
struct IntervalRange {
   int32_t fields;
   std::string_view words;
};
constexpr int32_t monthField = 1 << 1, yearField = 1 << 2, dayField = 1 << 3, hourField = 1 << 10,
                  minuteField = 1 << 11, secondField = 1 << 12;
constexpr IntervalRange intervalRanges[] = {
    {yearField, " year"},
    {monthField, " month"},
    {dayField, " day"},
    {hourField, " hour"},
    {minuteField, " minute"},
    {secondField, " second"},
    {yearField | monthField, " year to month"},
    {dayField | hourField, " day to hour"},
    {dayField | hourField | minuteField, " day to minute"},
    {dayField | hourField | minuteField | secondField, " day to second"},
    {hourField | minuteField, " hour to minute"},
    {hourField | minuteField | secondField, " hour to second"},
    {minuteField | secondField, " minute to second"},
};

std::string intervalModifier(int32_t typmod) {
   std::string text;
   for (const IntervalRange& range : intervalRanges)
      if (range.fields == (typmod >> 16 & 0x7fff)) text = range.words;
   const int32_t precision = typmod & 0xffff;
   if (precision != 0xffff) text += "(" + std::to_string(precision) + ")";
   return text;
}

/// "(10,2)" as the type's typmodout prints it; -1 prints nothing.
std::string modifierText(Oid type, int32_t typmod) {
   if (typmod < 0) return {};
   const auto parenthesised = [](int32_t number) { return "(" + std::to_string(number) + ")"; };
   switch (type) {
   case oid::bpchar:
   case oid::varchar: return typmod > 4 ? parenthesised(typmod - 4) : std::string();
   case oid::numeric: {
      if (typmod < 4) return {};
      const NumericModifier m = numericModifier(typmod);
      return "(" + std::to_string(m.precision) + "," + std::to_string(m.scale) + ")";
   }
   case oid::interval: return intervalModifier(typmod);
   default: return parenthesised(typmod);
   }
}

std::string qualified(const NameContext& context, Oid schema, std::string_view name, bool isVisible) {
   if (isVisible) return quoteIdentifier(name);
   const SchemaPtr found = context.snapshot.schema(schema);
   return (found ? quoteIdentifier(found->name) + "." : std::string()) + quoteIdentifier(name);
}

std::string elementName(const NameContext& context, const TypeInfo& type, std::optional<int32_t> typmod) {
   const int32_t modifier = typmod.value_or(-1);
   const auto modifierOf = [&] {
      return type.typmodOut != invalidOid ? modifierText(type.oid, modifier) : std::string();
   };
   // "character" and "bit" without a length have length 1 in SQL, so a type without a modifier prints pg_type's name.
   const bool isUnbounded = typmod && modifier < 0;
   if (type.oid == oid::bit) return isUnbounded ? "\"bit\"" : "bit" + modifierText(type.oid, modifier);
   for (const SqlSpelling& spelling : spellings) {
      if (spelling.type != type.oid) continue;
      if (type.oid == oid::bpchar && isUnbounded) break;
      return std::string(spelling.before) + modifierOf() + std::string(spelling.after);
   }
   const Oid made =
       type.schema == extensionTypeSchema ? schemaOfExtensionType(context.snapshot, type.oid) : type.schema;
   std::string name = qualified(context, made, type.name, isTypeVisible(context, type.oid).value_or(false));
   if (type.typmodOut == invalidOid && modifier >= 0) return name + "(" + std::to_string(modifier) + ")";
   return name + modifierOf();
}

/// A type's text without modifiers and array marks.
struct TypeText {
   std::string words; ///< blanks collapsed, unquoted parts lower case
   bool isArray = false;
};

TypeText normalise(std::string_view text) {
   TypeText result;
   const auto invalid = [&] {
      return SqlError(sqlstate::syntaxError, "invalid type name \"" + std::string(text) + "\"");
   };
   size_t i = 0;
   while (i < text.size()) {
      const char c = text[i];
      if (c == '"') {
         const size_t start = i++;
         while (i < text.size() && (text[i] != '"' || (i + 1 < text.size() && text[i + 1] == '"')))
            i += text[i] == '"' ? 2 : 1;
         if (i >= text.size()) throw invalid();
         result.words.append(text.substr(start, ++i - start));
      } else if (isSpace(c)) {
         if (!result.words.empty() && result.words.back() != ' ') result.words.push_back(' ');
         ++i;
      } else if (c == '(') {
         i = text.find(')', i);
         if (i == std::string_view::npos) throw invalid();
         ++i;
      } else if (c == '[') {
         const size_t end = text.find(']', i);
         if (end == std::string_view::npos) throw invalid();
         for (size_t d = i + 1; d < end; ++d)
            if (!isDigit(text[d]) && !isSpace(text[d])) throw invalid();
         result.isArray = true;
         i = end + 1;
      } else {
         result.words.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         ++i;
      }
   }
   while (!result.words.empty() && result.words.back() == ' ')
      result.words.pop_back();
   constexpr std::string_view arrayWord = " array";
   if (result.words.ends_with(arrayWord)) {
      result.words.resize(result.words.size() - arrayWord.size());
      result.isArray = true;
   }
   if (result.words.empty() || result.words.starts_with("setof ")) throw invalid();
   return result;
}

[[noreturn]] void throwNoType(std::string_view text) {
   throw SqlError(sqlstate::undefinedObject, "type \"" + std::string(text) + "\" does not exist");
}

/// The type of this schema and name: a built-in type, or else the row type of a relation.
Oid findTypeIn(const Snapshot& snapshot, Oid schema, std::string_view name) {
   if (const TypeInfo* type = builtins().findType(name, schema)) return type->oid;
   if (const TypeInfo* type = findExtensionType(snapshot, schema, name)) return type->oid;
   if (const RelationPtr relation = snapshot.findRelation(schema, name); relation) return relation->rowType;
   if (!name.empty() && name[0] == '_')
      if (const RelationPtr relation = snapshot.findRelation(schema, name.substr(1)); relation)
         return relation->rowTypeArray;
   return invalidOid;
}

Oid arrayOf(const NameContext& context, Oid element) {
   if (const TypeInfo* type = builtins().type(element))
      return type->isArray() && type->storage != 'p' ? element : type->array;
   const RelationPtr relation = context.snapshot.relationOfType(element);
   return relation ? relation->rowTypeArray : invalidOid;
}

Oid findByWords(const NameContext& context, std::string_view words, std::string_view text) {
   // The fields of an interval are a modifier and do not change the type.
   std::string_view base = words;
   if (base.starts_with("interval ")) base = "interval";
   if (const TypeInfo* type = builtins().findTypeBySqlName(base); type != nullptr && base != "\"char\"")
      if (base.find('"') == std::string_view::npos && base != type->name) return type->oid; // an SQL spelling
   const std::vector<std::string> parts = parseQualifiedName(base);
   if (parts.size() == 1) {
      if (parts[0] == "bit" && base == "bit") return oid::bit;
      if (base == "char") return oid::bpchar;
      for (const Oid schema : context.path.schemas)
         if (const Oid found = findTypeIn(context.snapshot, schema, parts[0])) return found;
      return invalidOid;
   }
   if (parts.size() > 2)
      throw SqlError(sqlstate::syntaxError, "improper qualified name (too many dotted names): " + std::string(text));
   return findTypeIn(context.snapshot, requireSchema(context.snapshot, context.path, parts[0]), parts[1]);
}

Oid findTypeText(const NameContext& context, std::string_view text) {
   const TypeText parsed = normalise(text);
   Oid found = findByWords(context, parsed.words, text);
   if (found != invalidOid && parsed.isArray) found = arrayOf(context, found);
   return found;
}

} // namespace

std::string formatType(const NameContext& context, Oid typeOid, std::optional<int32_t> typmod) {
   if (typeOid == invalidOid) return "-";
   const TypeInfo* type = builtins().type(typeOid);
   if (type == nullptr) {
      const RelationPtr relation = context.snapshot.relationOfType(typeOid);
      if (!relation) return "???";
      const bool isVisible = isTypeVisible(context, relation->rowType).value_or(false);
      return qualified(context, relation->schema, relation->name, isVisible) +
             (typeOid == relation->rowTypeArray ? "[]" : "");
   }
   // int2vector and oidvector are arrays, but print their own names.
   if (type->isArray() && type->storage != 'p')
      if (const TypeInfo* element = builtins().type(type->element))
         return elementName(context, *element, typmod) + "[]";
   return elementName(context, *type, typmod);
}

std::string sqlTypeName(const Snapshot& snapshot, const SqlType& type) {
   if (type.oid < firstUserOid) return ouzel::formatType(type);
   const SearchPath nowhere;
   return formatType({snapshot, nowhere}, type.oid, std::nullopt);
}

Oid parseTypeName(const NameContext& context, std::string_view text) {
   const Oid found = findTypeText(context, text);
   if (found == invalidOid) throwNoType(text);
   return found;
}

void requireNoShell(const NameContext& context, Oid type, std::string_view text) {
   const RelationPtr found = type < firstUserOid ? nullptr : context.snapshot.relationOfType(type);
   if (found && found->relationKind == RelationKind::Shell)
      throw SqlError(sqlstate::undefinedObject, "type \"" + std::string(text) + "\" is only a shell");
}

std::optional<Oid> toRegtype(const NameContext& context, std::string_view text) {
   try {
      const Oid found = findTypeText(context, text);
      requireNoShell(context, found, text);
      if (found != invalidOid) return found;
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefinedSchema) throw;
   }
   return std::nullopt;
}

std::optional<bool> isTypeVisible(const NameContext& context, Oid typeOid) {
   Oid home = invalidOid;
   std::string name;
   if (const TypeInfo* type = builtins().type(typeOid)) {
      home = type->schema == extensionTypeSchema ? schemaOfExtensionType(context.snapshot, typeOid) : type->schema;
      name = type->name;
   } else if (const RelationPtr relation = context.snapshot.relationOfType(typeOid)) {
      home = relation->schema;
      name = typeOid == relation->rowTypeArray ? "_" + relation->name : relation->name;
   } else {
      return std::nullopt;
   }
   for (const Oid schema : context.path.schemas) {
      if (schema == home) return true;
      if (findTypeIn(context.snapshot, schema, name) != invalidOid) return false;
   }
   return false;
}

} // namespace ouzel::catalog
