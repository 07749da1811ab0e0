#pragma once
#include "catalog/object/cast.hpp"
#include "catalog/object/field_coder.hpp"
#include "catalog/object/operator.hpp"

// The bytes of operators and casts; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T>
void operatorFields(Coder& coder, T& op) {
   coder(op.database);
   coder(op.oid);
   coder(op.schema);
   coder(op.name);
   coder(op.owner);
   type(coder, op.left);
   type(coder, op.right);
   type(coder, op.result);
   coder(op.function);
   coder(op.commutator);
   coder(op.negator);
   coder(op.restrictEstimator);
   coder(op.joinEstimator);
   coder(op.canMerge);
   coder(op.canHash);
}

template <typename Coder, typename T>
void castFields(Coder& coder, T& cast) {
   coder(cast.database);
   coder(cast.oid);
   type(coder, cast.source);
   type(coder, cast.target);
   coder(cast.function);
   coder(cast.context);
   coder(cast.method);
}

} // namespace ouzel::catalog
