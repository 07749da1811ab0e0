#include <optional>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_rows.hpp"
#include "executor/function/range/range_values.hpp"

// range_agg, which unites ranges or multiranges, and range_intersect_agg.

namespace ouzel::executor {

namespace {

// ---- range_agg: keeps the values and unites them at the end, which takes n log n steps ----

template <typename Argument>
struct RangeAgg {
   struct State {
      Pieces values; ///< uint32 size and bytes of each
      uint64_t count = 0;
   };
   static void add(State& s, const AggregateInput& input, uint32_t row) {
      if (input.args[0].isNull(row)) return;
      const StringView value = input.args[0].value<StringView>(row);
      const uint32_t size = value.size();
      char* target = s.values.extend(sizeof size + size, input.arena);
      std::memcpy(target, &size, sizeof size);
      std::memcpy(target + sizeof size, value.data(), size);
      ++s.count;
   }
   static void finish(const State& s, uint32_t row, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      std::optional<RangeKind> kind;
      Ranges all;
      s.values.forEach([&](std::string_view piece) {
         while (!piece.empty()) {
            uint32_t size;
            std::memcpy(&size, piece.data(), sizeof size);
            const Argument value(piece.substr(sizeof size, size));
            kind.emplace(value.kind());
            all.insert(all.end(), value.ranges().begin(), value.ranges().end());
            piece.remove_prefix(sizeof size + size);
         }
      });
      result.values<StringView>()[row] =
          multirangeValue(result.strings(), *kind, normalizedRanges(*kind, std::move(all)));
   }
};

// ---- range_intersect_agg ----

/// A copy of the intersection so far. One that is not longer takes the place of the one before.
struct IntersectionState {
   StringView value;
   bool isSet = false;

   void keep(const StringView& source, Arena& arena) {
      const bool fits = isSet && !value.isInline() && source.size() <= value.size();
      isSet = true;
      if (source.isInline() || !fits) {
         value = arena.copyString(source.view());
         return;
      }
      char* room = const_cast<char*>(value.data());
      std::memcpy(room, source.data(), source.size());
      value = StringView(room, source.size());
   }
};

std::string intersection(const OneRange& a, const OneRange& b) {
   std::string bytes;
   const Range left = a.ranges().empty() ? Range::empty() : a.ranges()[0];
   const Range right = b.ranges().empty() ? Range::empty() : b.ranges()[0];
   appendRange(bytes, a.kind(), intersectedRange(a.kind(), left, right));
   return bytes;
}
std::string intersection(const ManyRanges& a, const ManyRanges& b) {
   std::string bytes;
   appendMultirange(bytes, a.kind(), intersected(a.kind(), a.ranges(), b.ranges()));
   return bytes;
}

template <typename Argument>
struct RangeIntersection {
   using Input = StringView;
   using State = IntersectionState;
   static constexpr uint32_t strings[] = {offsetof(IntersectionState, value)};
   static void add(State& s, const StringView& value, Arena& arena) {
      if (!s.isSet) return s.keep(value, arena);
      const std::string bytes = intersection(Argument(s.value.view()), Argument(value.view()));
      s.keep(StringView(bytes), arena);
   }
   static void merge(State& into, const State& from, Arena& arena) {
      if (from.isSet) add(into, from.value, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<StringView>()[row] = result.strings().copyString(s.value.view());
   }
};

} // namespace

const AggregateKernel* findRangeAggregate(const AggregateRequest& request) {
   if (request.args.size() != 1) return nullptr;
   const bool isRange = findRangeType(request.argTypes[0].oid) != nullptr;
   if (!isRange && !findMultirangeType(request.argTypes[0].oid)) return nullptr;
   if (request.name == "range_agg")
      return isRange ? orderedKernel<RangeAgg<OneRange>> : orderedKernel<RangeAgg<ManyRanges>>;
   if (request.name == "range_intersect_agg")
      return isRange ? aggregateOf<RangeIntersection<OneRange>> : aggregateOf<RangeIntersection<ManyRanges>>;
   return nullptr;
}

} // namespace ouzel::executor
