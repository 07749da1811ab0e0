#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/builtin/builtin.hpp"

// Which of several functions or operators of one name is meant: PostgreSQL's chapter "Type Conversion" as code.

namespace ouzel::sql {

/// A function that could be called with the given arguments.
struct FunctionCandidate {
   const catalog::FunctionInfo* function;
   std::vector<Oid> args;          ///< declared types as called: defaults cut off, the variadic array spread out
   std::vector<uint32_t> argOrder; ///< named notation: argument i of the call is parameter argOrder[i]; else empty
   uint32_t variadicCount = 0;     ///< how many trailing arguments the variadic parameter takes
   uint32_t defaultCount = 0;      ///< how many trailing parameters take their default
};

enum class Resolution : uint8_t {
   Found,
   Cast, ///< the name is a type's and the call a cast
   None,
   Ambiguous,
};

struct FunctionResolution {
   Resolution outcome = Resolution::None;
   FunctionCandidate candidate; ///< Found
   Oid castTarget = invalidOid; ///< Cast
};

/// `argNames`: for the last arguments, those given as name => value.
/// `variadicCall`: the last argument was marked VARIADIC, so the variadic parameter is taken as the array it is.
FunctionResolution resolveFunction(std::string_view name, std::span<const Oid> argTypes,
                                   std::span<const std::string> argNames, bool variadicCall);

/// `left` invalidOid: a prefix operator.
struct OperatorResolution {
   Resolution outcome = Resolution::None;
   const catalog::OperatorInfo* op = nullptr;
};
OperatorResolution resolveOperator(std::string_view name, Oid left, Oid right);

/// Same, throwing 42883 and 42725 with PostgreSQL's words.
const catalog::OperatorInfo* requireOperator(std::string_view name, Oid left, Oid right, uint32_t position);

/// "f(integer, x => text)" as errors show calls.
std::string callSignature(std::string_view name, std::span<const Oid> argTypes, std::span<const std::string> argNames);

} // namespace ouzel::sql
