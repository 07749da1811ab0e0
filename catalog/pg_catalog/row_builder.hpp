#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pg_catalog/virtual_table.hpp"

namespace ouzel::catalog {

/// Assembles the rows of a system table. A producer gives a value for every column in the table's order, then calls
/// emit. The builder keeps the columns that the scan reads. In builds with DCHECK, a value that does not fit its
/// column's type aborts the process.
class RowBuilder {
public:
   RowBuilder(const Relation& relation, std::span<const int16_t> attributes, const RowCallback& callback);

   RowBuilder& null();
   RowBuilder& oid(Oid value); ///< also for regproc and other OID alias types, and xid
   RowBuilder& boolean(bool value);
   RowBuilder& int2(int64_t value);
   RowBuilder& int4(int64_t value);
   RowBuilder& int8(int64_t value);
   RowBuilder& float4(double value);
   RowBuilder& float8(double value);
   RowBuilder& text(std::string_view value); ///< text, name, pg_node_tree
   RowBuilder& nullable(const std::optional<std::string>& value);
   RowBuilder& textOrNull(std::string_view value) { return value.empty() ? null() : text(value); }
   RowBuilder& letter(char value); ///< "char"; '\0' is the empty value
   RowBuilder& timestamp(const std::optional<int64_t>& value);
   RowBuilder& interval(int64_t micros);
   RowBuilder& date(std::optional<int32_t> days);
   RowBuilder& numeric(const std::optional<std::string>& decimal); ///< bytes of common/number/decimal.hpp
   RowBuilder& oidArray(std::span<const Oid> values);
   RowBuilder& oidVector(std::span<const Oid> values);
   RowBuilder& int2Array(std::span<const int16_t> values);
   RowBuilder& int2Vector(std::span<const int16_t> values);
   RowBuilder& letterArray(std::string_view letters); ///< "char"[]
   RowBuilder& textArray(std::span<const std::string> values);
   RowBuilder& arrayBytes(std::string bytes); ///< an array of any elements, as its bytes
   RowBuilder& regtypeArray(std::span<const Oid> values);
   RowBuilder& acl(const Snapshot& snapshot, const Acl& value);
   /// A field in COPY's text format, parsed as the column's type.
   RowBuilder& parsed(std::optional<std::string_view> field);
   /// NULL for the next `count` columns.
   RowBuilder& nulls(int count);

   /// Passes the row to the callback. REQUIRES: every column has a value.
   void emit();
   /// Whether the scan reads a column of this name.
   bool wants(std::string_view column) const;

private:
   /// The place for the value of the next column; null if the scan does not read the column.
   Value* next(PhysicalType physical);
   RowBuilder& array(Oid elementType, std::span<const Value> values, int32_t lower = 1);

   const Relation& relation_;
   const RowCallback& callback_;
   std::vector<int> slots_; ///< by column: position in the row, or -1
   std::vector<Value> row_;
   size_t column_ = 0;
   bool repeats_ = false; ///< the scan reads an attribute twice
   std::span<const int16_t> attributes_;
};

} // namespace ouzel::catalog
