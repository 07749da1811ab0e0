#include "engine/definition/database/database_clauses.hpp"

#include <algorithm>
#include <charconv>

#include "common/text/ascii.hpp"
#include "common/text/encoding.hpp"
#include "engine/definition/system_object.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;

namespace {

[[noreturn]] void refuse(const ::DefElem& option, std::string_view wanted) {
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires " + std::string(wanted));
}

} // namespace

DatabaseClauses::DatabaseClauses(CommandContext& context, const ::List* options,
                                 const std::vector<std::string_view>& known)
   : context_(context) {
   for (const ::DefElem* option : sql::ListOf<::DefElem>(options)) {
      const std::string_view name = option->defname;
      if (std::find(known.begin(), known.end(), name) == known.end())
         throw SqlError(sqlstate::syntaxError, "option \"" + std::string(name) + "\" not recognized")
             .at(context.position(option->location));
      if (!options_.emplace(name, option).second)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(option->location));
   }
}

const ::DefElem* DatabaseClauses::find(std::string_view name) const {
   const auto found = options_.find(name);
   return found == options_.end() || !found->second->arg ? nullptr : found->second;
}

uint32_t DatabaseClauses::position(std::string_view name) const {
   return context_.position(options_.at(name)->location);
}

std::optional<std::string> DatabaseClauses::text(std::string_view name) const {
   const ::DefElem* option = find(name);
   if (!option) return std::nullopt;
   const ::Node* arg = option->arg;
   if (isNode(arg, T_Integer)) return std::to_string(as<::Integer>(arg)->ival);
   if (isNode(arg, T_Float)) return std::string(as<::Float>(arg)->fval);
   if (isNode(arg, T_Boolean)) return as<::Boolean>(arg)->boolval ? "true" : "false";
   return std::string(sql::stringOf(arg));
}

std::optional<bool> DatabaseClauses::boolean(std::string_view name) const {
   const ::DefElem* option = find(name);
   if (!option) return std::nullopt;
   const std::string word = lowerCase(*text(name));
   if (word == "true" || word == "on" || word == "1") return true;
   if (word == "false" || word == "off" || word == "0") return false;
   refuse(*option, "a Boolean value");
}

std::optional<int32_t> DatabaseClauses::integer(std::string_view name) const {
   const ::DefElem* option = find(name);
   if (!option) return std::nullopt;
   if (!isNode(option->arg, T_Integer)) refuse(*option, "an integer value");
   return as<::Integer>(option->arg)->ival;
}

std::optional<Oid> DatabaseClauses::oid(std::string_view name) const {
   const ::DefElem* option = find(name);
   if (!option) return std::nullopt;
   if (!isNode(option->arg, T_Integer) && !isNode(option->arg, T_Float)) refuse(*option, "a numeric value");
   const std::string digits = *text(name);
   uint32_t value = 0;
   const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
   if (error == std::errc::result_out_of_range)
      throw SqlError(sqlstate::numericValueOutOfRange, "value \"" + digits + "\" is out of range for type oid");
   if (error != std::errc() || end != digits.data() + digits.size()) refuse(*option, "a numeric value");
   return Oid{value};
}

std::optional<int32_t> DatabaseClauses::connectionLimit() const {
   const auto limit = integer("connection_limit");
   if (limit && *limit < -1)
      throw SqlError(sqlstate::invalidParameterValue, "invalid connection limit: " + std::to_string(*limit));
   return limit;
}

std::optional<std::string> DatabaseClauses::encoding() const {
   const ::DefElem* option = find("encoding");
   if (!option) return std::nullopt;
   const std::string name = *text("encoding");
   if (isNode(option->arg, T_Integer)) {
      const auto numbered = encodingOf(as<::Integer>(option->arg)->ival);
      if (numbered && isServerEncoding(*numbered)) return std::string(encodingName(*numbered));
      throw SqlError(sqlstate::undefinedObject, name + " is not a valid encoding code").at(position("encoding"));
   }
   const auto named = encodingNamed(name);
   if (named && isServerEncoding(*named)) return std::string(encodingName(*named));
   throw SqlError(sqlstate::undefinedObject, name + " is not a valid encoding name").at(position("encoding"));
}

void requireDefaultTablespace(SessionCore& core, const std::string& tablespace) {
   const SystemObject found = findSystemObject(core, OBJECT_TABLESPACE, std::vector<std::string>{tablespace});
   if (found.missing) throw SqlError(*found.missing);
   if (tablespace == "pg_global")
      throw SqlError(sqlstate::invalidParameterValue, "pg_global cannot be used as default tablespace");
}

} // namespace ouzel::engine
