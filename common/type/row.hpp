#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/type/user_types.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/string_view.hpp"
#include "common/value/value.hpp"

// The bytes of a row value (PhysicalType::String): a record, or a value of a row type.
//
//   offset  size        what
//   0       4           type OID: record or a row type
//   4       2           number of fields
//   6       1           1 if the fields have names
//   7       1           0
//   8       5 each      per field: type OID, physical type; the highest bit of the latter says NULL
//   ...                 per field, only if byte 6 says so: uint8 length and bytes of its name
//   ...                 the fields: fixed-size ones as they lie in a flat vector, variable-size ones as uint32 length
//   and
//                       bytes; a NULL takes no place
//
// A value says what its fields are, so that it can be taken apart without a catalog. The fields of a row type's value
// stand in the order of attribute numbers: those of dropped columns are NULL, and those of columns that came later are
// missing, which means NULL. A numeric is always a Decimal, a character(n) has its blanks. Only records have names, and
// only those whose fields are not called f1, f2, ...
// All numbers are little-endian and unaligned.

namespace ouzel {

/// How a field of a type lies in a row: the stored representation, but Decimal for numeric.
PhysicalType rowFieldPhysical(Oid type);

/// A row read in place; the bytes outlive it. Immutable; copies are cheap. The constructor throws XX000 if the bytes
/// are not a row's.
class RowView {
public:
   explicit RowView(std::string_view bytes);

   Oid type() const { return type_; }
   uint32_t size() const { return size_; }
   bool hasNames() const { return names_ != nullptr; }

   /// One field. `value`: as it lies in a flat vector, aligned for 16 bytes; a String or Decimal as a StringView into
   /// the row.
   struct Field {
      Oid type = invalidOid;
      PhysicalType physical = PhysicalType::String;
      bool isNull = true;
      std::string_view name{}; ///< empty: the row has no names
      alignas(16) std::byte value[16] = {};

      template <typename T>
      const T& as() const {
         return *reinterpret_cast<const T*>(value);
      }
   };
   /// Goes over the fields in their order: `for (RowView::Cursor field(row); field.next();)`.
   class Cursor {
   public:
      explicit Cursor(const RowView& row) : row_(row), name_(row.names_), at_(row.values_) {}
      /// Moves to the next field; false: there is none. Throws XX000 where the bytes end early.
      bool next();
      const Field& operator*() const { return field_; }
      const Field* operator->() const { return &field_; }
      uint32_t index() const { return next_ - 1; }

   private:
      const RowView& row_;
      const char* name_;
      const char* at_;
      uint32_t next_ = 0;
      Field field_;
   };
   /// Field i, without its name; NULL of no type if the row has fewer fields.
   Field field(uint32_t i) const;

private:
   Oid type_ = invalidOid;
   uint32_t size_ = 0;
   const char* heads_ = nullptr; ///< of the fields
   const char* names_ = nullptr;
   const char* values_ = nullptr;
   const char* end_ = nullptr;
};

/// A field as a value of its own.
Value valueOfField(const RowView::Field& field);

/// A field to write. `value` lies as in RowView::Field; it is not read for NULL.
struct RowPart {
   Oid type;
   PhysicalType physical;
   const void* value; ///< null: NULL
};

/// Appends the bytes of a row. `names`: of all fields, or empty.
void appendRow(std::string& out, Oid type, std::span<const RowPart> fields, std::span<const std::string> names = {});
/// The bytes of a row of the type with these values, one for each column.
std::string makeRow(Oid type, const std::vector<RowField>& columns, const std::vector<Value>& values);

} // namespace ouzel
