#include "catalog/builtin/system_views.hpp"

#include <map>
#include <span>

#include "common/error/check.hpp"

namespace ouzel::catalog {

namespace {

using Definitions = std::map<std::string_view, std::string_view>;

constexpr std::string_view pgCatalogViews =
#include "catalog/builtin/views/pg_catalog.inc"
    ;
constexpr std::string_view informationSchemaViews[] = {
#include "catalog/builtin/views/information_schema.inc"
    ,
#include "catalog/builtin/views/information_schema_foreign.inc"
    ,
#include "catalog/builtin/views/information_schema_routines.inc"
    ,
#include "catalog/builtin/views/information_schema_types.inc"
};

/// Splits a file of views at its "-- view: name" lines.
void parse(std::string_view text, Definitions& definitions) {
   constexpr std::string_view mark = "\n-- view: ";
   size_t at = text.find(mark);
   while (at != std::string_view::npos) {
      const size_t nameAt = at + mark.size(), lineEnd = text.find('\n', nameAt);
      CHECK(lineEnd != std::string_view::npos);
      at = text.find(mark, lineEnd);
      std::string_view sql = text.substr(lineEnd + 1, at == std::string_view::npos ? at : at - lineEnd - 1);
      while (!sql.empty() && sql.back() == '\n')
         sql.remove_suffix(1);
      definitions.emplace(text.substr(nameAt, lineEnd - nameAt), sql);
   }
}

Definitions parseAll(std::span<const std::string_view> texts) {
   Definitions definitions;
   for (const std::string_view text : texts)
      parse(text, definitions);
   return definitions;
}

} // namespace

std::string_view systemViewDefinition(bool isPgCatalog, std::string_view name) {
   static const Definitions pgCatalog = parseAll({&pgCatalogViews, 1}),
                            informationSchema = parseAll(informationSchemaViews);
   const Definitions& definitions = isPgCatalog ? pgCatalog : informationSchema;
   const auto found = definitions.find(name);
   return found != definitions.end() ? found->second : std::string_view();
}

} // namespace ouzel::catalog
