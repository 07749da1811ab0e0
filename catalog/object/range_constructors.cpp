#include "catalog/object/range_constructors.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "common/sync/mutex.hpp"

namespace ouzel::catalog {

namespace {

/// The OIDs of the constructors are that of the type with other highest bits, which no type, rule or table has.
constexpr Oid rangeKinds[] = {0x6000'0000, 0x7000'0000}, multirangeKinds[] = {0xd000'0000, 0xe000'0000, 0xf000'0000},
              castKind = 0x5000'0000;

constexpr Oid withoutKind(Oid oid) {
   return oid & ~userTypeKinds;
}

/// The rows of one type, and what they refer to.
struct Constructors {
   std::string name;
   std::vector<Oid> args; ///< of all rows, one behind the other
   std::vector<FunctionInfo> rows, listed;
   std::vector<const FunctionInfo*> pointers;

   explicit Constructors(const Relation& type) : name(type.name) {
      if (type.relationKind == RelationKind::Range) {
         const Oid subtype = type.columns[0].type.oid;
         args = {subtype, subtype, oid::text};
         add(type, 2, "range_constructor2");
         add(type, 3, "range_constructor3");
      } else {
         const Oid range = type.columns[0].type.oid;
         args = {range, arrayTypeOf(range)};
         add(type, 0, "multirange_constructor0");
         add(type, 1, "multirange_constructor1");
         add(type, 1, "multirange_constructor2");
         for (FunctionInfo& row : rows)
            row.isStrict = true;
         rows[2].argTypes = std::span<const Oid>(args).subspan(1);
         rows[2].variadicElement = range;
      }
      listed = rows;
      const bool isRange = type.relationKind == RelationKind::Range;
      for (size_t i = 0; i < rows.size(); ++i) {
         listed[i].oid = withoutKind(type.rowType) | (isRange ? rangeKinds[i] : multirangeKinds[i]);
         pointers.push_back(&rows[i]);
      }
      if (isRange) return;
      listed[2].allArgTypes = listed[2].argTypes;
      listed[2].argModes = "v";
   }
   Constructors(const Constructors&) = delete;

private:
   void add(const Relation& type, size_t argCount, std::string_view source) {
      constexpr Oid internalLanguage = 12;
      FunctionInfo& row = rows.emplace_back();
      row.name = name;
      row.schema = type.schema;
      row.kind = FunctionKind::Function;
      row.volatility = Volatility::Immutable;
      row.returnType = type.rowType;
      row.argTypes = std::span<const Oid>(args).first(argCount);
      row.source = source;
      row.language = internalLanguage;
      row.cost = 1;
   }
};

/// Null for other relations.
const Constructors* constructorsOf(const Relation& type) {
   static Mutex mutex;
   static std::map<std::tuple<Oid, Oid, std::string>, std::unique_ptr<const Constructors>> known; // plans refer to them
   if (type.relationKind != RelationKind::Range && type.relationKind != RelationKind::Multirange) return nullptr;
   const MutexLock lock(mutex);
   auto& found = known[{type.rowType, type.schema, type.name}];
   if (!found) found = std::make_unique<const Constructors>(type);
   return found.get();
}

} // namespace

std::span<const FunctionInfo* const> rangeConstructors(const Relation& type) {
   const Constructors* constructors = constructorsOf(type);
   return constructors ? std::span(constructors->pointers) : std::span<const FunctionInfo* const>();
}

std::span<const FunctionInfo> listedRangeConstructors(const Relation& type) {
   const Constructors* constructors = constructorsOf(type);
   return constructors ? std::span(constructors->listed) : std::span<const FunctionInfo>();
}

const FunctionInfo* rangeConstructor(const Snapshot& snapshot, Oid oid) {
   const auto has = [&](std::span<const Oid> kinds) {
      return std::find(kinds.begin(), kinds.end(), oid & userTypeKinds) != kinds.end();
   };
   const bool isOfRange = has(rangeKinds);
   if (!isOfRange && !has(multirangeKinds)) return nullptr;
   const auto type = snapshot.relationOfType(withoutKind(oid) | (isOfRange ? userRangeKind : userMultirangeKind));
   if (!type) return nullptr;
   for (const FunctionInfo& constructor : listedRangeConstructors(*type))
      if (constructor.oid == oid) return &constructor;
   return nullptr;
}

Oid castToMultirange(const Relation& multirange) {
   return withoutKind(multirange.rowType) | castKind;
}

} // namespace ouzel::catalog
