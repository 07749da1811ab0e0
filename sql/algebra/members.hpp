#pragma once
#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sql/algebra/rel.hpp"

// Walks over structs that list their members (operators.hpp), for code that treats all operators alike.

namespace ouzel::sql {

/// A struct that lists its members.
template <typename T>
concept Listed = requires {
   T::template members<T>;
};

template <typename T>
constexpr bool isVector = false;
template <typename T>
constexpr bool isVector<std::vector<T>> = true;

template <typename T>
constexpr bool isArray = false;
template <typename T, size_t count>
constexpr bool isArray<std::array<T, count>> = true;

/// Converts to a member of any type, to count the members of a struct.
struct AnyMember {
   template <typename T>
   operator T() const;
};
template <typename T, typename... Found>
constexpr size_t memberCount() {
   if constexpr (requires { T{Found()..., AnyMember()}; })
      return memberCount<T, Found..., AnyMember>();
   else
      return sizeof...(Found);
}

template <typename Struct, typename Type>
constexpr auto pointerOf(Type Struct::*member) {
   return member;
}
template <typename Struct, typename Type>
constexpr auto pointerOf(ColumnMember<Struct, Type> member) {
   return member.pointer;
}
template <typename Struct, typename Type>
constexpr ColumnRole roleOf(Type Struct::*, ColumnRole inherited) {
   return inherited;
}
template <typename Struct, typename Type>
constexpr ColumnRole roleOf(ColumnMember<Struct, Type> member, ColumnRole) {
   return member.role;
}

/// Calls `visit(member, entry)` for each member that a struct lists.
template <typename T, typename Visit>
void forEachMember(T& value, const Visit& visit) {
   static_assert(std::tuple_size_v<decltype(T::template members<T>)> == memberCount<T>(),
                 "`members` lists each member");
   std::apply([&](const auto&... entry) { (visit(value.*pointerOf(entry), entry), ...); }, T::template members<T>);
}

/// Whether no expression is in a T that does not list its members. A struct of another kind says so itself.
template <typename T>
constexpr bool ownsNoExpr = std::is_trivially_copyable_v<T> || !std::is_aggregate_v<T>;
template <>
inline constexpr bool ownsNoExpr<TableRef> = true;
template <>
inline constexpr bool ownsNoExpr<json::PathAccess> = true;

/// Visits the expressions of a member; those of inputs and CTEs are other operators'.
template <typename T, typename Visit>
void visitExprs(T& value, const Visit& visit) {
   using Type = std::remove_const_t<T>;
   if constexpr (Listed<Type>)
      forEachMember(value, [&](auto& member, const auto&) { visitExprs(member, visit); });
   else if constexpr (std::is_same_v<Type, ExprPtr>) {
      if (value) visit(value);
   } else if constexpr (std::is_same_v<Type, std::unique_ptr<Dml>>) {
      if (value) visitExprs(*value, visit);
   } else if constexpr (isVector<Type> || isArray<Type>) {
      for (auto& element : value)
         visitExprs(element, visit);
   } else
      static_assert(ownsNoExpr<Type>, "a struct lists its members, or owns no expression");
}

/// A copy of a member, with copies of the expressions and operators in it.
template <typename T>
T copyOf(const T& value) {
   if constexpr (Listed<T>) {
      T copy;
      std::apply([&](const auto&... entry) { ((copy.*pointerOf(entry) = copyOf(value.*pointerOf(entry))), ...); },
                 T::template members<T>);
      return copy;
   } else if constexpr (std::is_same_v<T, ExprPtr> || std::is_same_v<T, RelPtr>) {
      return value ? clone(*value) : nullptr;
   } else if constexpr (std::is_same_v<T, std::unique_ptr<Dml>>) {
      return value ? std::make_unique<Dml>(copyOf(*value)) : nullptr;
   } else if constexpr (isVector<T>) {
      T copy;
      copy.reserve(value.size());
      for (const auto& element : value)
         copy.push_back(copyOf(element));
      return copy;
   } else {
      return value;
   }
}

} // namespace ouzel::sql
