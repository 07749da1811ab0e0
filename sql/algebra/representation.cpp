#include "sql/algebra/representation.hpp"

namespace ouzel::sql {

Representation aggregateResult(std::string_view name, const SqlType& resultType, std::span<const Representation> args) {
   const Representation stored = storedRepresentation(resultType);
   if (args.empty()) return stored; // count(*)
   const Representation first = args[0];
   if (name == "min" || name == "max") return first;
   if (name != "sum") return stored;
   if (resultType.oid == oid::numeric)
      return first.physical == PhysicalType::Decimal ? first : Representation{PhysicalType::I128, first.scale};
   return stored;
}

} // namespace ouzel::sql
