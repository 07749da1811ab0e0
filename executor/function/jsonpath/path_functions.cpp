#include "common/error/sql_error.hpp"
#include "executor/function/families.hpp"
#include "executor/function/jsonpath/path_pattern.hpp"
#include "executor/function/jsonpath/path_query.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/regex.hpp"

// The functions of jsonpath that give one value, and the operators @? and @@.

namespace ouzel::executor {

namespace {

void checkPattern(std::string_view pattern, uint8_t flags) {
   Regex::find(pattern, pathPatternFlags(flags));
}

/// NULL: nothing but one truth value would be an answer, and the call is silent.
std::optional<bool> matchOf(const PathItems& found, bool isSilent) {
   if (found.size() == 1) {
      if (found[0].kind() == PathItem::Kind::Boolean) return found[0].boolean();
      if (found[0].kind() == PathItem::Kind::Null) return std::nullopt;
   }
   if (!isSilent) throw SqlError(sqlstate::singletonSqlJsonItemRequired, "single boolean result is expected");
   return std::nullopt;
}

enum class PathFunction { Exists, Match, Array, First };

/// (document, path) or (document, path, variables, silent).
template <PathFunction function, bool usesTimeZone>
void runPath(const KernelCall& call, ResultVector& result) {
   Arena& arena = result.strings();
   PathQuery query(call.context, usesTimeZone, arena.reservation());
   const auto text = [&call](size_t i, uint32_t row) {
      const Vector& arg = call.args[i];
      return arg.values<StringView>()[arg.positionOf(row)].view(); // in place: a short one lies in the vector
   };
   forEachRow(call.rows, [&](uint32_t row) {
      PathQuery::Row input{text(0, row), text(1, row), std::nullopt, true};
      if (call.args.size() == 4) {
         input.variables = text(2, row);
         input.isSilent = call.args[3].value<uint8_t>(row) != 0;
      }
      if constexpr (function == PathFunction::Exists || function == PathFunction::Match) {
         std::optional<bool> truth;
         if constexpr (function == PathFunction::Exists)
            truth = query.exists(input);
         else
            truth = query.find(input, [&](const PathItems& found) { return matchOf(found, input.isSilent); });
         if (truth)
            result.values<uint8_t>()[row] = *truth;
         else
            result.setNull(row);
      } else {
         query.find(input, [&](const PathItems& found) {
            if constexpr (function == PathFunction::Array) {
               result.values<StringView>()[row] = query.array(found, arena);
            } else if (found.size() > 0) {
               result.values<StringView>()[row] = query.value(found[0], arena);
            } else {
               result.setNull(row);
            }
         });
      }
   });
}

template <PathFunction function>
void add(const std::string& name) {
   registerKernel(name, "sssb", {runPath<function, false>, true, false});
   registerKernel(name + "_tz", "sssb", {runPath<function, true>, true, false});
}

} // namespace

void registerJsonPath() {
   json::setPatternCheck(checkPattern);
   add<PathFunction::Exists>("jsonb_path_exists");
   add<PathFunction::Match>("jsonb_path_match");
   add<PathFunction::Array>("jsonb_path_query_array");
   add<PathFunction::First>("jsonb_path_query_first");
   registerKernel("jsonb_path_exists_opr", "ss", {runPath<PathFunction::Exists, false>, true, false});
   registerKernel("jsonb_path_match_opr", "ss", {runPath<PathFunction::Match, false>, true, false});
}

} // namespace ouzel::executor
