#include "executor/function/jsonpath/path_query.hpp"

#include "common/json/json_input.hpp"

namespace ouzel::executor {

PathEvaluation::Call PathQuery::begin(const Row& row) {
   scratch_.reset();
   if (!path_.root || pathBytes_ != row.path) {
      path_.root = nullptr;
      pathArena_.reset();
      pathBytes_ = std::string(row.path);
      path_ = json::decodePath(pathBytes_, pathArena_);
   }
   PathEvaluation::Call call{path_, json::JsonbView(row.document), std::nullopt, row.isSilent, usesTimeZone_};
   if (row.variables) call.variables.emplace(*row.variables);
   return call;
}

std::optional<bool> PathQuery::exists(const Row& row) {
   PathEvaluation evaluation(begin(row), context_, scratch_);
   const PathEvaluation::Found found = evaluation.exists();
   if (found == PathEvaluation::Found::Error) return std::nullopt;
   return found == PathEvaluation::Found::Yes;
}

StringView PathQuery::value(const PathItem& item, Arena& arena) {
   if (const auto bytes = item.bytes()) return StringView(*bytes);
   item.write(writer_);
   return json::finishInto(writer_, arena);
}

StringView PathQuery::array(const PathItems& items, Arena& arena) {
   writer_.beginArray();
   for (const PathItem& item : items)
      item.write(writer_);
   writer_.endArray();
   return json::finishInto(writer_, arena);
}

} // namespace ouzel::executor
