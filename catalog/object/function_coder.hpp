#pragma once
#include <bit>

#include "catalog/object/field_coder.hpp"
#include "catalog/object/function.hpp"

// The bytes of functions; codec.cpp has those of the other objects.

namespace ouzel::catalog {

template <typename Coder, typename T>
void aggregateFields(Coder& coder, T& aggregate) {
   const auto text = [&](auto& value) { optional(coder, value, [&](auto& inside) { coder(inside); }); };
   coder(aggregate.kind);
   coder(aggregate.directArgs);
   for (auto* function :
        {&aggregate.transition, &aggregate.final, &aggregate.combine, &aggregate.serialize, &aggregate.deserialize,
         &aggregate.movingTransition, &aggregate.movingInverse, &aggregate.movingFinal, &aggregate.sortOperator})
      coder(*function);
   type(coder, aggregate.stateType);
   type(coder, aggregate.movingStateType);
   coder(aggregate.finalTakesArgs);
   coder(aggregate.movingFinalTakesArgs);
   coder(aggregate.finalModify);
   coder(aggregate.movingFinalModify);
   coder(aggregate.stateSpace);
   coder(aggregate.movingStateSpace);
   text(aggregate.initial);
   text(aggregate.movingInitial);
}

template <typename Coder, typename T>
void functionFields(Coder& coder, T& function) {
   const auto number = [&](auto& value) {
      auto bits = std::bit_cast<uint32_t>(value);
      coder(bits);
      if constexpr (Coder::isReading) value = std::bit_cast<float>(bits);
   };
   coder(function.database);
   coder(function.oid);
   coder(function.schema);
   coder(function.name);
   coder(function.owner);
   coder(function.functionKind);
   coder(function.language);
   structures(coder, function.parameters, [&](auto& parameter) {
      coder(parameter.name);
      coder(parameter.mode);
      type(coder, parameter.type);
      coder(parameter.defaultExpr);
   });
   type(coder, function.returnType);
   coder(function.returnsSet);
   coder(function.isStrict);
   coder(function.isSecurityDefiner);
   coder(function.isLeakproof);
   coder(function.volatility);
   coder(function.parallel);
   number(function.cost);
   number(function.rows);
   coder(function.source);
   pairs(coder, function.settings);
   acl(coder, function.acl);
   if (!coder.has(10)) return;
   coder(function.bodyForm);
   coder(function.bodyPath);
   structures(coder, function.dependsOn, [&](auto& read) {
      coder(read.relation);
      coder(read.attribute);
   });
   if (coder.has(12)) elements(coder, function.calls);
   if (coder.has(20)) coder(function.declaredLanguage);
   if (function.functionKind != FunctionKind::Aggregate) return;
   optional(coder, function.aggregate, [&](auto& aggregate) { aggregateFields(coder, aggregate); });
}

} // namespace ouzel::catalog
