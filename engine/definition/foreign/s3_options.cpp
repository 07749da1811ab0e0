#include "engine/definition/foreign/s3_options.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "engine/query/external_files.hpp"
#include "io/format/file_set.hpp"

namespace ouzel::engine {

using catalog::ForeignOptions;

namespace {

constexpr std::string_view serverOptions[] = {"endpoint", "path_style", "region", "url"};
constexpr std::string_view mappingOptions[] = {"access_key_id", "secret_access_key", "session_token"};

void requireKnown(const ForeignOptions& options, std::span<const std::string_view> known) {
   for (const auto& [name, value] : options) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string list;
      for (const std::string_view one : known)
         list += (list.empty() ? "" : ", ") + std::string(one);
      throw SqlError(sqlstate::fdwInvalidOptionName, "invalid option \"" + name + "\"")
          .hint("Valid options in this context are: " + list);
   }
}

/// Options go into requests, whose lines they must not break.
bool isPrintable(std::string_view text) {
   return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// Throws 22023 or HV00J unless the options say where the server is.
void checkAddress(const ForeignOptions& options) {
   const auto url = std::find_if(options.begin(), options.end(), [](const auto& one) { return one.first == "url"; });
   if (url == options.end())
      throw SqlError(sqlstate::fdwOptionNameNotFound, "a server of the wrapper s3 needs the option \"url\"");
   if (!io::isObjectUrl(url->second) || url->second.find('?') != std::string::npos)
      throw SqlError(sqlstate::invalidParameterValue, "the option \"url\" must be \"s3://bucket/prefix\"")
          .hint("The options endpoint, region and path_style are apart from it.");
   for (const auto& [name, value] : options)
      if (!isPrintable(value) || (name != "url" && value.find_first_of("?&=#%") != std::string::npos))
         throw SqlError(sqlstate::invalidParameterValue, "invalid value of option \"" + name + "\"");
   if (io::depthBelow(url->second + "/x", url->second + parametersOf(options)) < 0)
      throw SqlError(sqlstate::invalidParameterValue, "no object can lie below the option \"url\"")
          .hint("It is no pattern, and has no parts \".\" and \"..\".");
}

void checkKeys(const ForeignOptions& options) {
   for (const std::string_view needed : {mappingOptions[0], mappingOptions[1]})
      if (std::none_of(options.begin(), options.end(),
                       [&](const auto& one) { return one.first == needed && !one.second.empty(); }))
         throw SqlError(sqlstate::fdwOptionNameNotFound,
                        "a user mapping of the wrapper s3 needs the option \"" + std::string(needed) + "\"");
   for (const auto& [name, value] : options)
      if (!isPrintable(value))
         throw SqlError(sqlstate::invalidParameterValue, "invalid value of option \"" + name + "\"");
}

} // namespace

void checkS3Options(Oid catalog, const ForeignOptions& options) {
   switch (catalog) {
   case catalog::class_oid::pgForeignServer: requireKnown(options, serverOptions); return checkAddress(options);
   case catalog::class_oid::pgUserMapping: requireKnown(options, mappingOptions); return checkKeys(options);
   default: requireKnown(options, {}); // foreign tables have none: files are read by read_csv() and its like
   }
}

} // namespace ouzel::engine
