#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/program/variables.hpp"

namespace ouzel::sql::program {

/// What the declarations of a program ask of the catalog.
class TypeSource {
public:
   virtual ~TypeSource() = default;

   /// A type as it is written, "numeric(10,2)" or "public.t[]". Throws 42704, 42601 and others, with a
   /// position in the text, if any.
   virtual DeclaredType named(std::string_view text) const = 0;
   /// word%TYPE where the word is no variable: a type of that name that is not a row type.
   virtual std::optional<DeclaredType> namedByWord(std::string_view word) const = 0;
   /// table.column%TYPE, or schema.table.column%TYPE.
   virtual std::optional<DeclaredType> ofColumn(std::span<const std::string> names) const = 0;
   /// table%ROWTYPE. Throws 42P01, 42809 and others.
   virtual DeclaredType ofRows(std::span<const std::string> names) const = 0;
   /// Throws 42704.
   virtual Oid collation(std::span<const std::string> names) const = 0;
   /// As format_type() prints it.
   virtual std::string nameOf(const SqlType& type) const = 0;
};

} // namespace ouzel::sql::program
