#pragma once
#include <optional>
#include <string_view>

#include "common/error/sql_error.hpp"
#include "common/json/jsonb.hpp"
#include "common/json/jsonpath.hpp"
#include "common/memory/arena.hpp"
#include "executor/function/context.hpp"
#include "executor/function/jsonpath/object_ids.hpp"
#include "executor/function/jsonpath/path_item.hpp"

namespace ouzel::executor {

/// Runs a path over a document, in place. The tree of the path is walked: each item gets one value and hands its
/// results, one after the other, to the item behind it; what the last item gives is found.
///
/// Errors that PostgreSQL suppresses in predicates and in silent calls are results here (Found::Error); they are
/// thrown only where nothing suppresses them.
class PathEvaluation {
public:
   enum class Found : uint8_t { Yes, No, Error };
   struct Call {
      const json::JsonPath& path;
      json::JsonbView document;
      std::optional<json::JsonbView> variables;
      bool isSilent = true;
      bool usesTimeZone = false; ///< the functions with _tz: values with and without time zone may be compared
   };

   /// What the path makes on its way is in the arena.
   PathEvaluation(const Call& call, const FunctionContext& context, Arena& arena);

   /// Adds what the path finds. Items refer to the document, the variables and the arena.
   Found run(PathItems& found);
   /// Whether the path finds anything.
   Found exists();

private:
   enum class Truth : uint8_t { False, True, Unknown };
   /// An object whose parts keyvalue() numbers.
   struct BaseObject {
      const json::JsonbView* view = nullptr;
      int64_t id = 0;
   };

   // path_evaluation.cpp: the walk. `found` null: only whether there is anything is asked, and the first thing ends it.
   Found chain(const json::PathNode* node, PathItem item, PathItems* found, bool unwrap);
   /// The items behind `node`.
   Found next(const json::PathNode* node, const PathItem& item, PathItems* found);
   /// `node` for each element of an array or value of an object; null: they are found.
   Found elements(const json::PathNode* node, const json::JsonbView& container, PathItems* found, bool unwrap);
   Found anyLevel(const json::PathNode& node, const PathItem& item, PathItems* found);
   Found descend(const json::PathNode& any, const json::JsonbView& container, PathItems* found, uint32_t level);
   Found subscripts(const json::PathNode& node, const PathItem& item, PathItems* found);
   Found index(const json::PathNode* node, const PathItem& item, int32_t& out);
   PathItem variable(std::string_view name);
   /// Adds what a chain finds; in lax mode the elements of arrays instead of the arrays.
   Found unwrapped(const json::PathNode* node, const PathItem& item, PathItems& found);
   [[nodiscard]] Found fail(SqlState state, const char* before, const char* name = "", const char* behind = "") const;

   // path_methods.cpp: arithmetic and methods
   /// The result replaces `item`.
   Found binary(const json::PathNode& node, PathItem& item);
   Found sign(const json::PathNode& node, const PathItem& item, PathItems* found);
   Found numberMethod(const json::PathNode& node, PathItem& item);
   Found doubleMethod(PathItem& item);
   Found dateTimeMethod(const json::PathNode& node, PathItem& item);
   Found keyValues(const json::PathNode& node, const PathItem& item, PathItems* found);
   json::JsonbView keyValueObject(std::string_view key, const json::JsonbView& value, int64_t id);

   // path_predicates.cpp
   Truth truth(const json::PathNode& node, const PathItem& item);
   Truth exists(const json::PathNode* node, const PathItem& item);
   /// Whether a pair of what the operands find satisfies `test`.
   template <typename Test>
   Truth anyPair(const json::PathNode& node, const PathItem& item, bool unwrapRight, Test&& test);
   Truth likeRegex(const json::PathNode& node, const PathItem& item);
   Truth compare(json::PathOp op, const PathItem& a, const PathItem& b) const;
   /// nullopt: values of these types are not comparable.
   std::optional<int> compareDateTimes(const DateTimeValue& a, const DateTimeValue& b) const;
   void requireTimeZone(const char* from, const char* to) const;

   void tick();

   const FunctionContext& context_;
   Arena& arena_;
   const json::PathNode* const path_;
   const PathItem root_;
   const std::optional<json::JsonbView> variables_;
   const bool isLax_;
   const bool usesTimeZone_;

   bool ignoresStructure_;   ///< a missing member or element and an unexpected type give nothing
   bool throwsErrors_;       ///< false: within a predicate, or silent
   const PathItem* current_; ///< @
   int64_t arraySize_ = -1;  ///< of the array whose subscripts are evaluated
   BaseObject base_;
   int64_t nextObjectId_;
   ObjectIds ids_;
   uint32_t steps_ = 0;
};

} // namespace ouzel::executor
