#include "sql/bind/state/type_naming.hpp"

#include <utility>

#include "catalog/pg_catalog/functions.hpp"

namespace ouzel::sql {

namespace {

thread_local const BindContext* naming = nullptr;

} // namespace

TypeNaming::TypeNaming(const BindContext& context) : outer_(std::exchange(naming, &context)) {}

TypeNaming::~TypeNaming() {
   naming = outer_;
}

std::string userTypeName(Oid type) {
   if (!naming) return "record";
   return catalog::formatType({naming->catalog, naming->searchPath}, type, std::nullopt);
}

} // namespace ouzel::sql
