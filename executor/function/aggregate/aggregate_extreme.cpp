#include "catalog/builtin/builtin.hpp"
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
/// The order of arrays is not that of their bytes.
template <Choice choice>
bool isBetterArray(const StringView& candidate, const StringView& current) {
   const int order = compareArrays(ArrayView(candidate.view()), ArrayView(current.view()));
   return choice == Choice::Min ? order < 0 : order > 0;
}

template <PhysicalType type, Choice choice, bool ofArrays = false>
struct StringExtreme {
   using Input = StringView;
   using State = StringState;
   static constexpr uint32_t strings[] = {offsetof(StringState, value)};
   static void add(State& s, const StringView& value, Arena& arena) {
      if (!s.isSet || (ofArrays ? isBetterArray<choice>(value, s.value) : isBetter<type, choice>(value, s.value)))
         s.keep(value, arena);
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
const AggregateKernel* kernelFor(PhysicalType type) {
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
   // There is no min(jsonb). The optimizer asks for it among equal values, of which any will do.
   if (request.name == "min" && !request.argTypes.empty() && request.argTypes[0].oid == oid::jsonb)
      return kernelFor<Choice::Any>(request.args[0].physical);
   if (!request.argTypes.empty() && catalog::builtins().isArray(request.argTypes[0].oid)) {
      if (request.name == "min") return aggregateOf<StringExtreme<PhysicalType::String, Choice::Min, true>>;
      if (request.name == "max") return aggregateOf<StringExtreme<PhysicalType::String, Choice::Max, true>>;
   }
   if (request.name == "min") return kernelFor<Choice::Min>(request.args[0].physical);
   if (request.name == "max") return kernelFor<Choice::Max>(request.args[0].physical);
   if (request.name == "any_value") return kernelFor<Choice::Any>(request.args[0].physical);
   return nullptr;
}

} // namespace ouzel::executor
