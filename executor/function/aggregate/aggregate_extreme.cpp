#include "common/value/dispatch.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare_operators.hpp"

// min, max, any_value over every type, by the order of kernel/compare.hpp.

namespace ouzel::executor {

namespace {

enum class Choice : uint8_t { Min, Max, Any };

template <PhysicalType type, Choice choice>
inline bool isBetter(const PhysicalValueType<type>& candidate, const PhysicalValueType<type>& current) {
   using C = ValueCompare<type, PhysicalValueType<type>>;
   if constexpr (choice == Choice::Min) return C::less(candidate, current);
   if constexpr (choice == Choice::Max) return C::less(current, candidate);
   return false;
}

template <typename T>
struct FixedState {
   T value{};
   bool isSet = false;
};
template <PhysicalType type, Choice choice>
struct FixedExtreme {
   using Input = PhysicalValueType<type>;
   using State = FixedState<Input>;
   static void add(State& s, const Input& value, Arena&) {
      if (!s.isSet || isBetter<type, choice>(value, s.value)) s.value = value;
      s.isSet = true;
   }
   static void addDense(State& s, const Input* values, uint32_t count) {
      if (count == 0) return;
      Input best = s.isSet ? s.value : values[0];
      for (uint32_t i = 0; i < count; ++i)
         best = isBetter<type, choice>(values[i], best) ? values[i] : best;
      s = {best, true};
   }
   static void merge(State& into, const State& from, Arena& arena) {
      if (from.isSet) add(into, from.value, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<Input>()[row] = s.value;
   }
};

/// A state with a copy of a string. A new string that is not longer overwrites the bytes of the old one.
struct StringState {
   StringView value;
   bool isSet = false;

   void keep(const StringView& source, Arena& arena) {
      const bool fits = isSet && !value.isInline() && source.size() <= value.size();
      isSet = true;
      if (source.isInline()) {
         value = source;
         return;
      }
      char* room = fits ? const_cast<char*>(value.data()) : static_cast<char*>(arena.allocate(source.size(), 1));
      std::memmove(room, source.data(), source.size());
      value = StringView(room, source.size());
   }
};
/// `keyed`: the order of values whose order is not that of their bytes; none for others. (A null pointer would do, but
/// gcc 12 cannot compare it at compile time under -fsanitize=undefined.)
template <PhysicalType type, Choice choice, StringOrder... keyed>
struct StringExtreme {
   using Input = StringView;
   using State = StringState;
   static constexpr uint32_t strings[] = {offsetof(StringState, value)};
   static void add(State& s, const StringView& value, Arena& arena) {
      if (!s.isSet || isBetterThan(s.value, value)) s.keep(value, arena);
   }
   static bool isBetterThan(const StringView& current, const StringView& candidate) {
      static_assert(sizeof...(keyed) <= 1);
      if constexpr (sizeof...(keyed) == 0) {
         return isBetter<type, choice>(candidate, current);
      } else {
         const int order = (keyed(candidate, current), ...);
         return choice == Choice::Min ? order < 0 : order > 0;
      }
   }
   static void merge(State& into, const State& from, Arena& arena) {
      if (from.isSet) add(into, from.value, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<StringView>()[row] = result.strings().copyString(s.value.view());
   }
};

template <Choice choice>
const AggregateKernel* kernelFor(const AggregateRequest& request) {
   const StringOrder keyed = request.argTypes.empty() ? nullptr : keyedOrder(request.argTypes[0]);
   // There is no min(jsonb), min(anyrange) or min(cube). The optimizer asks for it among equal values, of which any
   // will do.
   if (keyed == compareJsonb || keyed == compareRanges || keyed == compareMultiranges || keyed == compareCubeBytes)
      return aggregateOf<StringExtreme<PhysicalType::String, Choice::Any>>;
   if (keyed == compareBpchar) return aggregateOf<StringExtreme<PhysicalType::String, choice, compareBpchar>>;
   if (keyed && keyed != compareCaseless)
      return aggregateOf<StringExtreme<PhysicalType::String, choice, compareArrayBytes>>;
   const PhysicalType type = request.args[0].physical;
   const AggregateKernel* kernel = nullptr;
   dispatchPhysical(type, [&](auto tag) {
      constexpr PhysicalType physical = decltype(tag)::type;
      if constexpr (isVariableSize(physical)) {
         kernel = aggregateOf<StringExtreme<physical, choice>>;
      } else {
         kernel = aggregateOf<FixedExtreme<physical, choice>>;
      }
   });
   return kernel;
}

} // namespace

const AggregateKernel* findExtremeAggregate(const AggregateRequest& request) {
   if (request.args.size() != 1) return nullptr;
   if (request.name == "min") return kernelFor<Choice::Min>(request);
   if (request.name == "max") return kernelFor<Choice::Max>(request);
   if (request.name == "any_value") return kernelFor<Choice::Any>(request);
   return nullptr;
}

} // namespace ouzel::executor
