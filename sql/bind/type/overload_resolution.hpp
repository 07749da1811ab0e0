#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/builtin/builtin.hpp"

// Chooses among functions or operators of one name, as PostgreSQL's chapter "Type Conversion" says.

namespace ouzel::sql {

/// A function that could be called with the given arguments.
struct FunctionCandidate {
   const catalog::FunctionInfo* function;
   std::vector<Oid> args;          ///< declared types per argument of the call: the variadic type is repeated
   std::vector<uint32_t> argOrder; ///< named notation: argument i of the call is parameter argOrder[i]; else empty
   uint32_t variadicCount = 0;     ///< number of trailing arguments for the variadic parameter
   uint32_t defaultCount = 0;      ///< number of trailing parameters that take their default
   bool isAmbiguous = false;       ///< another function of the schema takes the same arguments
};

enum class Resolution : uint8_t {
   Found,
   Cast, ///< the name is that of a type, and the call is a cast
   None,
   Ambiguous,
};

struct FunctionResolution {
   Resolution outcome = Resolution::None;
   FunctionCandidate candidate; ///< Found
   Oid castTarget = invalidOid; ///< Cast
};

/// `argNames`: the names of the last arguments, which are written name => value.
/// `variadicCall`: the last argument is marked VARIADIC: it is the array for the variadic parameter.
/// `name`: empty if it cannot be that of a built-in type. `functions`: those that it means, in the order of the search
/// path. `extensionType`: the type of an extension that it means; null: none.
FunctionResolution resolveFunction(std::string_view name, std::span<const Oid> argTypes,
                                   std::span<const std::string> argNames, bool variadicCall,
                                   std::span<const catalog::FunctionInfo* const> functions,
                                   const catalog::TypeInfo* extensionType = nullptr);
/// The same among the built-in functions of the name.
FunctionResolution resolveFunction(std::string_view name, std::span<const Oid> argTypes,
                                   std::span<const std::string> argNames, bool variadicCall);

/// `left` invalidOid: a prefix operator.
struct OperatorResolution {
   Resolution outcome = Resolution::None;
   const catalog::OperatorInfo* op = nullptr;
};
OperatorResolution resolveOperator(std::string_view name, Oid left, Oid right);

/// The operator that resolveOperator finds. Throws 42883 and 42725 with PostgreSQL's words.
const catalog::OperatorInfo* requireOperator(std::string_view name, Oid left, Oid right, uint32_t position);

/// The operator by which families of operators know this one: a comparison of an extension's type has a row among the
/// built-in ones; any other operator is itself.
const catalog::OperatorInfo& familyOperator(const catalog::OperatorInfo& op);

/// "integer + text" as errors show operators.
std::string operatorSignature(std::string_view name, Oid left, Oid right);
/// "f(integer, x => text)" as errors show calls.
std::string callSignature(std::string_view name, std::span<const Oid> argTypes, std::span<const std::string> argNames);

} // namespace ouzel::sql
