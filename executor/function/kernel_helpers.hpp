#pragma once
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "common/error/sql_error.hpp"
#include "executor/function/registry.hpp"

// Makes kernels out of scalar functions, so that registering a function is one line:
//
//    int32_t add(int32_t a, int32_t b);                      addKernel<add>("name")
//    StringView lower(StringView text, KernelEnv& env);      addKernel<lower>("lower", totalKernel)
//    std::optional<int64_t> find(StringView a, StringView b)   nullopt means NULL
//
// Parameters: bool, int16_t, int32_t, int64_t, int128, float, double, Interval (by value or const&), StringView for
// String, DecimalView for Decimal; KernelEnv& may be the last one. Results have the same types (bool for Bool), or
// std::optional of them. std::optional parameters make a non-strict kernel, which gets NULLs. There are special loops
// for flat and constant arguments; other encodings are read through positions. Include in .cpp files only.

namespace ouzel::executor {

/// A StringView with a decimal (common/number/decimal.hpp): a type of its own for overloads and registration.
struct DecimalView {
   StringView bytes;
   DecimalView() = default;
   DecimalView(StringView v) : bytes(v) {}
   operator StringView() const { return bytes; }
};
static_assert(sizeof(DecimalView) == 16);

/// Further inputs of a scalar function, in addition to its arguments.
struct KernelEnv {
   Arena& strings; ///< for result strings
   FunctionContext& context;
   const KernelCall& call;

   StringView copy(std::string_view text) { return strings.copyString(text); }
};

inline constexpr KernelEntry failingKernel{nullptr, true, false};
inline constexpr KernelEntry totalKernel{nullptr, true, true};

namespace detail {

template <typename T>
struct Stored {
   using type = T;
};
template <>
struct Stored<bool> {
   using type = uint8_t;
};
template <>
struct Stored<DecimalView> {
   using type = StringView;
};
template <typename T>
using StoredType = typename Stored<T>::type;

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct Plain {
   using type = std::remove_cvref_t<T>;
};
template <typename T>
struct Unwrap {
   using type = T;
};
template <typename T>
struct Unwrap<std::optional<T>> {
   using type = T;
};

template <typename T>
constexpr char letterFor() {
   using U = typename Unwrap<std::remove_cvref_t<T>>::type;
   if constexpr (std::is_same_v<U, bool>) return 'b';
   if constexpr (std::is_same_v<U, int16_t>) return 'h';
   if constexpr (std::is_same_v<U, int32_t>) return 'i';
   if constexpr (std::is_same_v<U, int64_t>) return 'l';
   if constexpr (std::is_same_v<U, int128>) return 'w';
   if constexpr (std::is_same_v<U, float>) return 'f';
   if constexpr (std::is_same_v<U, double>) return 'd';
   if constexpr (std::is_same_v<U, Interval>) return 'v';
   if constexpr (std::is_same_v<U, DecimalView>) return 'n';
   if constexpr (std::is_same_v<U, StringView>) return 's';
}

/// Reads one argument of any encoding.
template <typename T>
struct Argument {
   using Value = typename Unwrap<std::remove_cvref_t<T>>::type;
   using Element = StoredType<Value>;
   const Element* values;
   const uint16_t* codes; ///< null: flat or constant
   const ValidityWord* validity;
   uint32_t mask; ///< 0 for a constant, all ones for flat

   explicit Argument(const Vector& vector)
      : values(vector.values<Element>()), codes(vector.encoding == Encoding::Dictionary ? vector.codes : nullptr),
        validity(vector.validity), mask(vector.encoding == Encoding::Constant ? 0 : ~0u) {}
   uint32_t position(uint32_t row) const { return codes ? codes[row] : row & mask; }
   static const Value& cast(const Element& element) {
      if constexpr (std::is_same_v<Value, Element>) {
         return element;
      } else {
         static_assert(sizeof(Value) == sizeof(Element));
         return reinterpret_cast<const Value&>(element);
      }
   }
   decltype(auto) get(uint32_t row) const {
      if constexpr (IsOptional<std::remove_cvref_t<T>>::value) {
         const uint32_t p = position(row);
         return isValidBit(validity, p) ? std::optional<Value>(cast(values[p])) : std::optional<Value>();
      } else {
         return cast(values[position(row)]);
      }
   }
};

template <typename R>
inline void put(ResultVector& result, StoredType<typename Unwrap<R>::type>* out, uint32_t row, R&& value) {
   if constexpr (IsOptional<std::remove_cvref_t<R>>::value) {
      if (value) {
         out[row] = StoredType<typename Unwrap<std::remove_cvref_t<R>>::type>(*value);
      } else {
         result.setNull(row);
      }
   } else {
      out[row] = StoredType<R>(value);
   }
}

template <auto fn, typename Signature>
struct Loop;

template <auto fn, typename R, typename... P>
struct Loop<fn, R (*)(P...)> {
   static constexpr size_t paramCount = sizeof...(P);
   using Params = std::tuple<std::type_identity<P>...>;
   template <size_t i>
   using Param = typename std::tuple_element_t<i, Params>::type;

   static constexpr bool hasEnv() {
      if constexpr (paramCount == 0) {
         return false;
      } else {
         return std::is_same_v<Param<paramCount - 1>, KernelEnv&>;
      }
   }
   static constexpr size_t argCount = paramCount - (hasEnv() ? 1 : 0);
   using Result = std::remove_cvref_t<R>;
   using Out = StoredType<typename Unwrap<Result>::type>;

   static constexpr bool hasOptionalArgs() {
      return []<size_t... i>(std::index_sequence<i...>) {
         return (IsOptional<std::remove_cvref_t<Param<i>>>::value || ... || false);
      }
      (std::make_index_sequence<argCount>{});
   }
   static std::string letters() {
      return []<size_t... i>(std::index_sequence<i...>) {
         return std::string{letterFor<Param<i>>()...};
      }
      (std::make_index_sequence<argCount>{});
   }

   template <typename... V>
   static R invoke(KernelEnv& env, const V&... values) {
      if constexpr (hasEnv()) {
         return fn(values..., env);
      } else {
         return fn(values...);
      }
   }

   static void run(const KernelCall& call, ResultVector& result) {
      KernelEnv env{result.strings(), call.context, call};
      Out* out = result.values<Out>();
      if constexpr (argCount == 1 && !hasOptionalArgs()) {
         if (call.args[0].encoding == Encoding::Flat) {
            const auto* values = Argument<Param<0>>(call.args[0]).values;
            return forEachRow(call.rows, [&](uint32_t row) {
               put<Result>(result, out, row, invoke(env, Argument<Param<0>>::cast(values[row])));
            });
         }
      }
      if constexpr (argCount == 2 && !hasOptionalArgs()) {
         if (call.args[0].encoding == Encoding::Flat && call.args[1].encoding != Encoding::Dictionary)
            return runFlat(call, result, env, out);
      }
      runAny(call, result, env, out, std::make_index_sequence<argCount>{});
   }

   static void runFlat(const KernelCall& call, ResultVector& result, KernelEnv& env, Out* out) {
      using A = Argument<Param<0>>;
      using B = Argument<Param<argCount - 1>>;
      const auto* a = A(call.args[0]).values;
      const auto* b = B(call.args[1]).values;
      if (call.args[1].encoding == Encoding::Constant) {
         const auto bound = B::cast(b[0]);
         forEachRow(call.rows,
                    [&](uint32_t row) { put<Result>(result, out, row, invoke(env, A::cast(a[row]), bound)); });
      } else {
         forEachRow(call.rows, [&](uint32_t row) {
            put<Result>(result, out, row, invoke(env, A::cast(a[row]), B::cast(b[row])));
         });
      }
   }

   template <size_t... i>
   static void runAny(const KernelCall& call, ResultVector& result, KernelEnv& env, Out* out,
                      std::index_sequence<i...>) {
      const std::tuple<Argument<Param<i>>...> args{Argument<Param<i>>(call.args[i])...};
      forEachRow(call.rows,
                 [&](uint32_t row) { put<Result>(result, out, row, invoke(env, std::get<i>(args).get(row)...)); });
   }
};

} // namespace detail

/// Register `fn` under `prosrc` for the argument types of its signature.
template <auto fn>
void addKernel(std::string_view prosrc, KernelEntry properties = failingKernel) {
   using Loop = detail::Loop<fn, decltype(fn)>;
   properties.kernel = Loop::run;
   if (Loop::hasOptionalArgs()) properties.strict = false;
   registerKernel(prosrc, Loop::letters(), properties);
}
/// Register `fn` under several names.
template <auto fn>
void addKernels(std::initializer_list<std::string_view> prosrcs, KernelEntry properties = failingKernel) {
   for (const std::string_view prosrc : prosrcs)
      addKernel<fn>(prosrc, properties);
}

} // namespace ouzel::executor
