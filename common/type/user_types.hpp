#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/value/selection.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

namespace ouzel {

/// A column of a row type.
struct RowField {
   std::string name;
   SqlType type;
   bool isDropped = false;
};
using RowFields = std::shared_ptr<const std::vector<RowField>>; ///< in the order of attribute numbers

/// The column of a value's field. Throws XX000 for a field that the type does not have.
inline const RowField& columnOf(const std::vector<RowField>& columns, uint32_t field) {
   if (field >= columns.size()) throwInternal("malformed row value");
   return columns[field];
}

class EnumLabels; // common/type/enum_labels.hpp
using EnumLabelsPtr = std::shared_ptr<const EnumLabels>;

/// What the texts of values of users' types need of the catalog. Thread-safe.
class UserTypes {
public:
   virtual ~UserTypes() = default;
   /// The columns of a row type. Throws XX000 if there is no such type.
   virtual RowFields rowFields(Oid type) const = 0;
   /// The labels of an enum type. Throws XX000 if there is no such type. Takes a lock: ask once for many values.
   virtual EnumLabelsPtr enumLabels(Oid type) const = 0;
   /// The text of a value of regclass or another reg type.
   virtual std::string objectName(Oid regType, Oid object) const = 0;
   /// The object that a text names: the input function of the reg type. Throws 42704, ...
   virtual Oid objectNamed(Oid regType, std::string_view name) const = 0;
   /// Throws 23502 or 23514 for a row of `rows` whose value a domain refuses; the values lie as those of a row's field
   /// (row.hpp). `domain` may be the array type of one: then the values are arrays.
   virtual void checkDomain(Oid domain, const Vector& values, const Selection& rows) const = 0;
};

/// Throws as UserTypes::checkDomain() if the type is a domain that refuses the value. Null for `types`: XX000 for a
/// domain.
void checkDomain(const SqlType& type, const Value& value, const UserTypes* types);

} // namespace ouzel
