#include "catalog/object/range_constructors.hpp"

#include <map>
#include <memory>

#include "common/sync/mutex.hpp"

namespace ouzel::catalog {

namespace {

/// The rows of one type, and what they refer to.
struct Constructors {
   std::string name;
   std::vector<Oid> args; ///< of all rows, one behind the other
   std::vector<FunctionInfo> rows;
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
         rows[1].isStrict = rows[2].isStrict = true;
         rows[2].argTypes = std::span<const Oid>(args).subspan(1);
         rows[2].variadicElement = range;
      }
      for (const FunctionInfo& row : rows)
         pointers.push_back(&row);
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

} // namespace

std::span<const FunctionInfo* const> rangeConstructors(const Relation& type) {
   static Mutex mutex;
   static std::map<std::pair<Oid, std::string>, std::unique_ptr<const Constructors>> known; // plans refer to the rows
   if (type.relationKind != RelationKind::Range && type.relationKind != RelationKind::Multirange) return {};
   const MutexLock lock(mutex);
   auto& found = known[{type.rowType, type.name}];
   if (!found) found = std::make_unique<const Constructors>(type);
   return found->pointers;
}

} // namespace ouzel::catalog
