#pragma once
#include <optional>
#include <string>

#include "sql/bind/state/bind_context.hpp"

namespace ouzel::sql {

/// While it lives, errors of this thread name users' types as the context's catalog does, and the rules of types and
/// operators know those of users.
class TypeNaming {
public:
   explicit TypeNaming(const BindContext& context);
   ~TypeNaming();
   TypeNaming(const TypeNaming&) = delete;

   const BindContext& context() const { return context_; }
   /// Along which path operators are found: the context's, or that of the body of a function (null: the context's).
   const catalog::SearchPath& path() const { return path_ ? *path_ : context_.searchPath; }
   void usePath(const catalog::SearchPath* path) const { path_ = path; }
   /// Whether the catalog has operators or casts of users; looked up once.
   bool hasOperators() const;
   bool hasCasts() const;

private:
   const BindContext& context_;
   const TypeNaming* outer_;
   mutable const catalog::SearchPath* path_ = nullptr;
   mutable std::optional<bool> hasOperators_, hasCasts_;
};

/// format_type() of a type that users made; "record" where no TypeNaming lives.
std::string userTypeName(Oid type);
/// Whose catalog has operators, or casts, of users; null: there are none.
const TypeNaming* withUserOperators();
const TypeNaming* withUserCasts();

} // namespace ouzel::sql
