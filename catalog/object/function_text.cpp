#include "catalog/object/function_text.hpp"

#include <charconv>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {

namespace {

constexpr std::string_view storedPrefix = "ouzel#";

} // namespace

std::string_view routineNoun(FunctionKind kind) {
   return kind == FunctionKind::Procedure ? "procedure" : kind == FunctionKind::Aggregate ? "aggregate" : "function";
}

std::string typeText(const Snapshot& snapshot, const SearchPath& path, Oid type) {
   if (type < firstUserOid) return formatType(SqlType{type, -1, invalidOid});
   const RelationPtr relation = snapshot.relationOfType(type);
   if (!relation) return "???";
   return displayName(snapshot, path, *relation) + (type == relation->rowTypeArray ? "[]" : "");
}

namespace {

/// The type in a signature, which has no lengths: there SQL's own words mean bpchar and bit.
std::string argumentText(const Snapshot& snapshot, const SearchPath& path, Oid type) {
   switch (type) {
   case oid::bpchar: return "character";
   case 1014: return "character[]";
   case oid::bit: return "bit";
   case 1561: return "bit[]";
   default: return typeText(snapshot, path, type);
   }
}

} // namespace

std::string signatureOf(const Snapshot& snapshot, const SearchPath& path, const Function& function) {
   std::string types;
   for (const Oid type : function.inputTypes())
      types += (types.empty() ? "" : ",") + argumentText(snapshot, path, type);
   return displayName(snapshot, path, function.info()) + "(" + types + ")";
}

std::string storedFunctionName(Oid function) {
   return "\"" + std::string(storedPrefix) + std::to_string(function) + "\"";
}

std::optional<Oid> functionOfStoredName(std::string_view name) {
   if (!name.starts_with(storedPrefix)) return std::nullopt;
   name.remove_prefix(storedPrefix.size());
   Oid oid = invalidOid;
   const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), oid);
   return error == std::errc() && end == name.data() + name.size() ? std::optional(oid) : std::nullopt;
}

void forEachCall(std::string_view sql, const std::function<void(Oid function)>& visit) {
   const std::string start = "\"" + std::string(storedPrefix);
   for (size_t at = sql.find(start); at != std::string_view::npos; at = sql.find(start, at + 1)) {
      const std::string_view name = sql.substr(at + 1);
      if (const auto oid = functionOfStoredName(name.substr(0, name.find('"')))) visit(*oid);
   }
}

bool callsFunction(std::string_view sql, Oid function) {
   return sql.find(storedFunctionName(function)) != std::string_view::npos;
}

} // namespace ouzel::catalog
