#include "sql/bind/state/type_naming.hpp"

#include <utility>

#include "catalog/pg_catalog/functions.hpp"

namespace ouzel::sql {

namespace {

thread_local const TypeNaming* naming = nullptr;

} // namespace

TypeNaming::TypeNaming(const BindContext& context) : context_(context), outer_(std::exchange(naming, this)) {}

TypeNaming::~TypeNaming() {
   naming = outer_;
}

bool TypeNaming::hasOperators() const {
   if (!hasOperators_) hasOperators_ = context_.catalog.hasOperators();
   return *hasOperators_;
}

bool TypeNaming::hasCasts() const {
   if (!hasCasts_) hasCasts_ = context_.catalog.hasCasts();
   return *hasCasts_;
}

std::string userTypeName(Oid type) {
   if (!naming) return "record";
   const BindContext& context = naming->context();
   return catalog::formatType({context.catalog, context.searchPath}, type, std::nullopt);
}

const TypeNaming* withUserOperators() {
   return naming && naming->hasOperators() ? naming : nullptr;
}

const TypeNaming* withUserCasts() {
   return naming && naming->hasCasts() ? naming : nullptr;
}

} // namespace ouzel::sql
