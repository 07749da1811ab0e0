#include "engine/remote/connection_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "catalog/object/extension.hpp"
#include "catalog/object/membership.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::engine {

using catalog::ForeignOptions;

namespace {

enum class Value : uint8_t { Any, Boolean, Integer, Cost, Extensions };

struct Option {
   std::string_view name;
   Oid catalog; ///< of the objects that have it
   Value value = Value::Any;
};

using namespace catalog::class_oid;

// In the order in which PostgreSQL's hints list them: those of libpq first, which are settings of the connection.
constexpr Option connectionOptions[] = {
    {"service", pgForeignServer},
    {"user", pgUserMapping},
    {"password", pgUserMapping},
    {"passfile", pgForeignServer},
    {"channel_binding", pgForeignServer},
    {"connect_timeout", pgForeignServer},
    {"dbname", pgForeignServer},
    {"host", pgForeignServer},
    {"hostaddr", pgForeignServer},
    {"port", pgForeignServer},
    {"options", pgForeignServer},
    {"application_name", pgForeignServer},
    {"keepalives", pgForeignServer},
    {"keepalives_idle", pgForeignServer},
    {"keepalives_interval", pgForeignServer},
    {"keepalives_count", pgForeignServer},
    {"tcp_user_timeout", pgForeignServer},
    {"sslmode", pgForeignServer},
    {"sslcompression", pgForeignServer},
    {"sslcert", pgForeignServer},
    {"sslkey", pgForeignServer},
    {"sslpassword", pgUserMapping},
    {"sslrootcert", pgForeignServer},
    {"sslcrl", pgForeignServer},
    {"sslcrldir", pgForeignServer},
    {"sslsni", pgForeignServer},
    {"requirepeer", pgForeignServer},
    {"ssl_min_protocol_version", pgForeignServer},
    {"ssl_max_protocol_version", pgForeignServer},
    {"gssencmode", pgForeignServer},
    {"krbsrvname", pgForeignServer},
    {"gsslib", pgForeignServer},
    {"target_session_attrs", pgForeignServer},
};
constexpr Option ownOptions[] = {
    {"schema_name", pgForeignTable},
    {"table_name", pgForeignTable},
    {"column_name", pgAttribute},
    {"use_remote_estimate", pgForeignServer, Value::Boolean},
    {"use_remote_estimate", pgForeignTable, Value::Boolean},
    {"fdw_startup_cost", pgForeignServer, Value::Cost},
    {"fdw_tuple_cost", pgForeignServer, Value::Cost},
    {"extensions", pgForeignServer, Value::Extensions},
    {"updatable", pgForeignServer, Value::Boolean},
    {"updatable", pgForeignTable, Value::Boolean},
    {"truncatable", pgForeignServer, Value::Boolean},
    {"truncatable", pgForeignTable, Value::Boolean},
    {"fetch_size", pgForeignServer, Value::Integer},
    {"fetch_size", pgForeignTable, Value::Integer},
    {"batch_size", pgForeignServer, Value::Integer},
    {"batch_size", pgForeignTable, Value::Integer},
    {"async_capable", pgForeignServer, Value::Boolean},
    {"async_capable", pgForeignTable, Value::Boolean},
    {"parallel_commit", pgForeignServer, Value::Boolean},
    {"keep_connections", pgForeignServer, Value::Boolean},
    {"password_required", pgUserMapping, Value::Boolean},
    {"sslcert", pgUserMapping},
    {"sslkey", pgUserMapping},
};

template <typename Visit>
void forEachOption(Visit&& visit) {
   for (const Option& option : connectionOptions)
      visit(option);
   for (const Option& option : ownOptions)
      visit(option);
}

const Option& requireOption(std::string_view name, Oid catalog) {
   const Option* found = nullptr;
   std::string list;
   forEachOption([&](const Option& option) {
      if (option.catalog != catalog) return;
      if (option.name == name) found = &option;
      list += (list.empty() ? "" : ", ") + std::string(option.name);
   });
   if (found) return *found;
   throw SqlError(sqlstate::fdwInvalidOptionName, "invalid option \"" + std::string(name) + "\"")
       .hint(list.empty() ? "There are no valid options in this context."
                          : "Valid options in this context are: " + list);
}

std::optional<bool> booleanOf(std::string_view text) {
   const std::string word = lowerCase(text);
   if (word == "true" || word == "on") return true;
   if (word == "false" || word == "off") return false;
   return std::nullopt;
}

constexpr bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

bool isSpaceOnly(const char* rest) {
   return std::all_of(rest, rest + std::string_view(rest).size(), isSpace);
}

/// As settings are read: decimal, 0x or octal, or a fraction, which is rounded. None: it is no number without a unit.
std::optional<int> integerOf(const std::string& text) {
   char* end = nullptr;
   double number = static_cast<double>(std::strtoll(text.c_str(), &end, 0));
   if (*end == '.' || *end == 'e' || *end == 'E') number = std::strtod(text.c_str(), &end);
   if (end == text.c_str() || !isSpaceOnly(end) || !(std::abs(std::rint(number)) <= INT32_MAX)) return std::nullopt;
   return static_cast<int>(std::rint(number));
}

std::optional<double> costOf(const std::string& text) {
   char* end = nullptr;
   const double number = std::strtod(text.c_str(), &end);
   if (end == text.c_str() || !isSpaceOnly(end) || !std::isfinite(number)) return std::nullopt;
   return number;
}

/// The names of a list with commas, folded unless they are in quotes. None: it is no such list.
std::optional<std::vector<std::string>> namesOf(std::string_view text) {
   std::vector<std::string> names;
   size_t at = 0;
   const auto skipSpaces = [&] {
      while (at < text.size() && isSpace(text[at]))
         ++at;
   };
   skipSpaces();
   if (at == text.size()) return names;
   for (;; ++at) {
      skipSpaces();
      std::string name;
      if (at < text.size() && text[at] == '"') {
         for (++at;; ++at) {
            if (at == text.size()) return std::nullopt;
            if (text[at] == '"' && (++at == text.size() || text[at] != '"')) break; // two stand for one
            name += text[at];
         }
      } else {
         for (; at < text.size() && text[at] != ',' && !isSpace(text[at]); ++at)
            name += asciiLower(text[at]);
         if (name.empty()) return std::nullopt;
      }
      names.push_back(std::move(name));
      skipSpaces();
      if (at == text.size()) return names;
      if (text[at] != ',') return std::nullopt;
   }
}

void checkExtensions(SessionCore& core, const std::string& text) {
   const auto names = namesOf(text);
   if (!names)
      throw SqlError(sqlstate::invalidParameterValue, "parameter \"extensions\" must be a list of extension names");
   for (const std::string& name : *names)
      if (!core.transaction.catalog().findExtension(name) && !catalog::findBuiltinExtension(name))
         core.warn(sqlstate::undefinedObject, "extension \"" + name + "\" is not installed");
}

void checkValue(SessionCore& core, const Option& option, const std::string& text) {
   const std::string quoted = "\"" + std::string(option.name) + "\"";
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::invalidParameterValue, message); };
   switch (option.value) {
   case Value::Any: return;
   case Value::Boolean:
      if (!booleanOf(text))
         throw SqlError(sqlstate::syntaxError, std::string(option.name) + " requires a Boolean value");
      return;
   case Value::Integer: {
      const auto number = integerOf(text);
      if (!number) refuse("invalid value for integer option " + quoted + ": " + text);
      if (*number <= 0) refuse(quoted + " must be an integer value greater than zero");
      return;
   }
   case Value::Cost: {
      const auto number = costOf(text);
      if (!number) refuse("invalid value for floating point option " + quoted + ": " + text);
      if (*number < 0) refuse(quoted + " must be a floating point value greater than or equal to zero");
      return;
   }
   case Value::Extensions: return checkExtensions(core, text);
   }
}

/// What would let a user connect as the server's own operating-system user.
void checkRight(SessionCore& core, const Option& option, const std::string& text) {
   if (option.catalog != pgUserMapping || catalog::isSuperuser(core.transaction.catalog(), core.role())) return;
   const bool isKey = option.name == "sslcert" || option.name == "sslkey";
   if (!isKey && !(option.name == "password_required" && booleanOf(text) == false)) return;
   const std::string what = isKey ? "sslcert or sslkey options set" : "password_required option set to false";
   throw SqlError(sqlstate::insufficientPrivilege,
                  isKey ? "sslcert and sslkey are superuser-only" : "password_required=false is superuser-only")
       .hint("User mappings with the " + what + " may only be created or modified by the superuser.");
}

} // namespace

void checkPostgresOptions(SessionCore& core, const ForeignOptions& options, Oid catalog) {
   for (const auto& [name, value] : options) {
      const Option& option = requireOption(name, catalog);
      checkValue(core, option, value);
      checkRight(core, option, value);
   }
}

bool isConnectionOption(std::string_view name) {
   return std::any_of(std::begin(connectionOptions), std::end(connectionOptions),
                      [&](const Option& option) { return option.name == name; });
}

const std::string* findOption(const ForeignOptions& options, std::string_view name) {
   for (const auto& [own, value] : options)
      if (own == name) return &value;
   return nullptr;
}

bool booleanOption(const ForeignOptions& options, std::string_view name, bool otherwise) {
   const std::string* text = findOption(options, name);
   return text ? booleanOf(*text).value_or(otherwise) : otherwise;
}

int integerOption(const ForeignOptions& options, std::string_view name, int otherwise) {
   const std::string* text = findOption(options, name);
   return text ? integerOf(*text).value_or(otherwise) : otherwise;
}

} // namespace ouzel::engine
