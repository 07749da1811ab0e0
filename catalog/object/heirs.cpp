#include "catalog/object/heirs.hpp"

#include <algorithm>

namespace ouzel::catalog {

AttributeMap attributesIn(const Relation& table, const Relation& heir) {
   const size_t count = table.columns.size();
   const auto isSame = [&](size_t i) {
      const Column &above = table.columns[i], &below = heir.columns[i];
      return above.isDropped == below.isDropped && (above.isDropped || above.name == below.name);
   };
   bool areAllSame = heir.columns.size() == count;
   for (size_t i = 0; i < count && areAllSame; ++i)
      areAllSame = isSame(i);
   if (areAllSame) return nullptr;
   std::vector<int16_t> attributes(count);
   for (size_t i = 0; i < count; ++i) {
      if (table.columns[i].isDropped) continue;
      if (const Column* column = heir.findColumn(table.columns[i].name)) attributes[i] = column->attribute;
   }
   return std::make_shared<const std::vector<int16_t>>(std::move(attributes));
}

std::vector<SqlType> partitionKeyTypes(const Relation& table) {
   std::vector<SqlType> types;
   size_t expression = 0;
   for (const int16_t attribute : table.partitionKey->columns)
      types.push_back(attribute != 0 ? table.columns[static_cast<size_t>(attribute - 1)].type
                                     : table.partitionKey->types.at(expression++));
   return types;
}

} // namespace ouzel::catalog
