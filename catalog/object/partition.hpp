#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"

// Which rows each partition of a partitioned table takes, as the catalog keeps it.

namespace ouzel::catalog {

enum class PartitionStrategy : char { Range = 'r', List = 'l', Hash = 'h' };

/// PARTITION BY.
struct PartitionKey {
   PartitionStrategy strategy = PartitionStrategy::Range;
   std::vector<int16_t> columns;           ///< attnums; 0: the next of `expressions`
   std::vector<Oid> collations{};          ///< by column; invalidOid: its type has none
   std::vector<std::string> expressions{}; ///< as those of an index
   std::vector<SqlType> types{};           ///< of the expressions
   std::vector<int16_t> reads{};           ///< attnums that the expressions read
   std::vector<Oid> classes{};             ///< operator classes by column; invalidOid, or none at all: the default

   /// Whether it has the column, or an expression reads it.
   bool has(int16_t attribute) const {
      for (const std::vector<int16_t>* list : {&columns, &reads})
         for (const int16_t one : *list)
            if (one == attribute) return true;
      return false;
   }
};

/// One value of FOR VALUES.
struct PartitionDatum {
   enum class Kind : uint8_t { Minimum, Value, Maximum, Null };
   Kind kind = Kind::Value;
   std::string text; ///< the value as its type prints it
   std::string key;  ///< its order key, see appendValueKey()
   bool operator==(const PartitionDatum&) const = default;
};

/// FOR VALUES, or DEFAULT.
struct PartitionBound {
   PartitionStrategy strategy = PartitionStrategy::Range; ///< of the parent
   bool isDefault = false;
   std::vector<PartitionDatum> values;       ///< list
   std::vector<PartitionDatum> lower, upper; ///< range: the lower one is part of it
   int32_t modulus = 0, remainder = 0;       ///< hash
};

} // namespace ouzel::catalog
