#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

namespace ouzel {

/// A column of a row type.
struct RowField {
   std::string name;
   SqlType type;
   bool isDropped = false;
};
using RowFields = std::shared_ptr<const std::vector<RowField>>; ///< in the order of attribute numbers

/// What the texts of values of users' types need of the catalog. Thread-safe.
class UserTypes {
public:
   virtual ~UserTypes() = default;
   /// The columns of a row type. Throws XX000 if there is no such type.
   virtual RowFields rowFields(Oid type) const = 0;
   /// The text of a value of regclass or another reg type.
   virtual std::string objectName(Oid regType, Oid object) const = 0;
};

} // namespace ouzel
