#pragma once
#include "sql/bind/state/bind_context.hpp"
#include "sql/program/type_source.hpp"

namespace ouzel::sql::program {

/// The types of a catalog.
class CatalogTypes : public TypeSource {
public:
   /// `context` must live as long.
   explicit CatalogTypes(const BindContext& context) : context_(context) {}

   DeclaredType named(std::string_view text) const override;
   std::optional<DeclaredType> namedByWord(std::string_view word) const override;
   std::optional<DeclaredType> ofColumn(std::span<const std::string> names) const override;
   DeclaredType ofRows(std::span<const std::string> names) const override;
   Oid collation(std::span<const std::string> names) const override;
   std::string nameOf(const SqlType& type) const override;

private:
   const BindContext& context_;
};

/// What a type makes of a variable.
TypeClass typeClass(const SqlType& type);

} // namespace ouzel::sql::program
