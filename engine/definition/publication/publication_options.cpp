#include "engine/definition/publication/publication_options.hpp"

#include <algorithm>

#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

constexpr const char* viaRoot = "publish_via_partition_root";

std::string lowerCase(std::string text) {
   std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
   return text;
}

std::string textOf(const ::DefElem& option) {
   if (!option.arg) throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   switch (nodeTag(option.arg)) {
   case T_Integer: return std::to_string(as<::Integer>(option.arg)->ival);
   case T_Float: return as<::Float>(option.arg)->fval;
   case T_Boolean: return as<::Boolean>(option.arg)->boolval ? "true" : "false";
   case T_TypeName: return sql::joinNames(ListOf<>(as<::TypeName>(option.arg)->names));
   case T_List: return sql::joinNames(ListOf<>(as<::List>(option.arg)));
   default: return std::string(sql::stringOf(option.arg));
   }
}

bool booleanOf(const ::DefElem& option) {
   if (!option.arg) return true;
   const std::string word = lowerCase(textOf(option));
   const bool isNumber = isNode(option.arg, T_Integer);
   if (isNumber ? word == "1" : word == "true" || word == "on") return true;
   if (isNumber ? word == "0" : word == "false" || word == "off") return false;
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
}

/// The names of a list as PostgreSQL reads it, between commas: in quotes, or else in small letters. Nothing: the list
/// is malformed.
std::optional<std::vector<std::string>> namesIn(std::string_view text) {
   const auto skipBlanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\n\r\f\v"), text.size())); };
   std::vector<std::string> names;
   skipBlanks();
   if (text.empty()) return names;
   while (true) {
      std::string name;
      if (text.starts_with('"')) {
         text.remove_prefix(1);
         while (true) {
            const size_t quote = text.find('"');
            if (quote == std::string_view::npos) return std::nullopt;
            name += text.substr(0, quote);
            text.remove_prefix(quote + 1);
            if (!text.starts_with('"')) break;
            name += '"';
            text.remove_prefix(1);
         }
      } else {
         const size_t end = std::min(text.find_first_of(", \t\n\r\f\v"), text.size());
         if (end == 0) return std::nullopt;
         name = lowerCase(std::string(text.substr(0, end)));
         text.remove_prefix(end);
      }
      names.push_back(std::move(name));
      skipBlanks();
      if (text.empty()) return names;
      if (!text.starts_with(',')) return std::nullopt;
      text.remove_prefix(1);
      skipBlanks();
   }
}

void setPublished(catalog::Publication& publication, const ::DefElem& option) {
   publication.insert = publication.update = publication.del = publication.truncate = false;
   const auto names = namesIn(textOf(option));
   if (!names) throw SqlError(sqlstate::syntaxError, "invalid list syntax in parameter \"publish\"");
   for (const std::string& name : *names) {
      bool* published = name == "insert"     ? &publication.insert
                        : name == "update"   ? &publication.update
                        : name == "delete"   ? &publication.del
                        : name == "truncate" ? &publication.truncate
                                             : nullptr;
      if (!published)
         throw SqlError(sqlstate::syntaxError,
                        "unrecognized value for publication option \"publish\": \"" + name + "\"");
      *published = true;
   }
}

} // namespace

void applyPublicationOptions(CommandContext& context, const ::List* options, catalog::Publication& publication) {
   bool hasPublish = false, hasViaRoot = false;
   for (const ::DefElem* option : ListOf<::DefElem>(options)) {
      const std::string name = option->defname;
      if (name != "publish" && name != viaRoot)
         throw SqlError(sqlstate::syntaxError, "unrecognized publication parameter: \"" + name + "\"");
      if (std::exchange(name == "publish" ? hasPublish : hasViaRoot, true))
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(option->location));
      if (name == "publish")
         setPublished(publication, *option);
      else
         publication.viaRoot = booleanOf(*option);
   }
}

void requireNoPartitionedParts(SessionCore& core, const catalog::Publication& publication) {
   for (const catalog::PublicationTable& entry : publication.tables) {
      const auto table = core.transaction.catalog().relation(entry.table);
      if (!table || !table->partitionKey || (entry.filter.empty() && entry.columns.empty())) continue;
      throw SqlError(sqlstate::invalidParameterValue, "cannot set parameter \"" + std::string(viaRoot) +
                                                          "\" to false for publication \"" + publication.name + "\"")
          .detail("The publication contains a " + std::string(entry.filter.empty() ? "column list" : "WHERE clause") +
                  " for partitioned table \"" + table->name + "\", which is not allowed when \"" + viaRoot +
                  "\" is false.");
   }
}

} // namespace ouzel::engine
