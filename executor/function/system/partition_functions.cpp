#include "catalog/object/collation.hpp"
#include "catalog/object/heirs.hpp"
#include "catalog/object/partition_hash.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/number/scaled_value.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/collation_keys.hpp"

// satisfies_hash_partition(parent, modulus, remainder, key...): whether a row with this key belongs to the partition.

namespace ouzel::executor {

namespace {

/// The types of the parent's key, to which the arguments' must be equal, and the locales of the columns whose collation
/// keys are compared. Throws PostgreSQL's errors.
std::vector<SqlType> keyTypes(const KernelCall& call, Oid parent, std::vector<std::optional<std::string>>& locales) {
   locales.clear();
   const catalog::RelationPtr table = call.context.catalog ? call.context.catalog->relation(parent) : nullptr;
   if (!table) throw SqlError(sqlstate::undefinedTable, "could not open relation with OID " + std::to_string(parent));
   if (!table->partitionKey || table->partitionKey->strategy != catalog::PartitionStrategy::Hash)
      throw SqlError(sqlstate::invalidParameterValue, "\"" + table->name + "\" is not a hash partitioned table");
   const std::vector<int16_t>& key = table->partitionKey->columns;
   const size_t given = call.args.size() - 3;
   if (given != key.size())
      throw SqlError(sqlstate::invalidParameterValue, "number of partitioning columns (" + std::to_string(key.size()) +
                                                          ") does not match number of partition keys provided (" +
                                                          std::to_string(given) + ")");
   const std::vector<SqlType> ofKey = catalog::partitionKeyTypes(*table);
   std::vector<SqlType> types;
   for (size_t i = 0; i < key.size(); ++i) {
      const SqlType& type = ofKey[i];
      if (type.oid != call.argTypes[i + 3].oid)
         throw SqlError(sqlstate::invalidParameterValue,
                        "column " + std::to_string(i + 1) + " of the partition key has type " +
                            formatType({type.oid, -1, invalidOid}) + ", but supplied value is of type " +
                            formatType({call.argTypes[i + 3].oid, -1, invalidOid}));
      types.push_back({type.oid, -1, invalidOid});
   }
   // Of a key with a nondeterministic collation the collation keys are hashed.
   const std::vector<SqlType> compared = catalog::boundTypes(*call.context.catalog, *table);
   for (size_t i = 0; i < key.size(); ++i) {
      const auto collation = catalog::boundCollation(*call.context.catalog, *table, i);
      if (collation && compared[i].oid != oid::text)
         throwNotSupported("satisfies_hash_partition() of arrays under a nondeterministic collation");
      if (collation) types[i] = compared[i];
      locales.push_back(collation ? std::optional(std::string(collation->icuLocale)) : std::nullopt);
   }
   return types;
}

void satisfiesHashPartition(const KernelCall& call, ResultVector& result) {
   auto* out = result.values<uint8_t>();
   std::vector<SqlType> types;
   Oid typesOf = invalidOid;
   std::vector<Value> key;
   std::vector<std::optional<std::string>> locales;
   forEachRow(call.rows, [&](uint32_t row) {
      out[row] = 0;
      for (size_t i = 0; i < 3; ++i)
         if (call.args[i].isNull(row)) return;
      const auto parent = static_cast<Oid>(Value::fromVector(call.args[0], row).i64);
      const auto modulus = call.args[1].value<int32_t>(row), remainder = call.args[2].value<int32_t>(row);
      const auto refuse = [](const char* message) { throw SqlError(sqlstate::invalidParameterValue, message); };
      if (parent != typesOf) types = keyTypes(call, typesOf = parent, locales);
      if (modulus <= 0) refuse("modulus for hash partition must be an integer value greater than zero");
      if (remainder < 0) refuse("remainder for hash partition must be an integer value greater than or equal to zero");
      if (remainder >= modulus) refuse("remainder for hash partition must be less than modulus");
      key.clear();
      for (size_t i = 3; i < call.args.size(); ++i)
         key.push_back(withOwnScale(Value::fromVector(call.args[i], row), call.argTypes[i].oid, call.argReprs[i]));
      for (size_t i = 0; i < key.size(); ++i)
         if (locales[i] && !key[i].isNull) {
            if (call.argTypes[i + 3].oid == oid::bpchar) key[i].bytes.erase(key[i].bytes.find_last_not_of(' ') + 1);
            key[i].bytes = CollationKeys::of(*locales[i]).key(key[i].bytes);
         }
      const uint64_t hash = catalog::partitionHash(types, key);
      out[row] = hash % static_cast<uint64_t>(modulus) == static_cast<uint64_t>(remainder);
   });
}

} // namespace

void registerPartitionFunctions() {
   registerKernel("satisfies_hash_partition", anyArguments, {satisfiesHashPartition, false, false});
}

} // namespace ouzel::executor
