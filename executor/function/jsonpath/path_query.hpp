#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"
#include "executor/function/context.hpp"
#include "executor/function/jsonpath/path_evaluation.hpp"

namespace ouzel::executor {

/// Runs the paths of one call of a kernel, or of a table function: a path is decoded once for all rows that have it.
/// Used by one thread.
class PathQuery {
public:
   /// `memory` is charged for what paths make on their way; may be null.
   PathQuery(const FunctionContext& context, bool usesTimeZone, Reservation* memory)
      : context_(context), usesTimeZone_(usesTimeZone), pathArena_(memory), scratch_(memory) {}

   struct Row {
      std::string_view document, path;
      std::optional<std::string_view> variables; ///< a jsonb
      bool isSilent = true;
   };
   /// nullopt: an error that was suppressed.
   std::optional<bool> exists(const Row& row);
   /// Calls use(items) with what the path finds.
   template <typename Use>
   auto find(const Row& row, Use&& use) {
      PathEvaluation evaluation(begin(row), context_, scratch_);
      PathItems found(scratch_);
      evaluation.run(found);
      return use(found);
   }
   /// A result as a jsonb value, in the arena unless it is part of the row's document or variables.
   StringView value(const PathItem& item, Arena& arena);
   StringView array(const PathItems& items, Arena& arena);

private:
   PathEvaluation::Call begin(const Row& row);

   const FunctionContext& context_;
   const bool usesTimeZone_;
   std::string pathBytes_;
   json::JsonPath path_;
   Arena pathArena_; ///< the tree of path_
   Arena scratch_;   ///< of one row
   json::JsonbWriter writer_;
};

} // namespace ouzel::executor
