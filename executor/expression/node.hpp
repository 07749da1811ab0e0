#pragma once
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "executor/expression/constant_set.hpp"
#include "executor/expression/program.hpp"
#include "executor/function/registry.hpp"

// The inside of a compiled program: a graph of nodes, arguments before users. Included only within expression/.

namespace ouzel::executor {

enum class Op : uint8_t {
   Column,
   Constant,
   Compare,
   And,
   Or,
   Not,
   IsNull,
   IsNotNull,
   IsTrue,
   IsNotTrue,
   IsFalse,
   IsNotFalse,
   Case,
   Coalesce,
   InSet, ///< args[0] in `set`, `negated`
   Call,
   Relabel,
   Convert,
   TextCast,
   TypmodCast,
   Array,
   Subscript,
   AnyArray,
};

inline constexpr uint32_t noBuffer = UINT32_MAX;

struct Node {
   Op op = Op::Constant;
   SqlType type;
   Representation repr;
   std::vector<uint32_t> args;

   uint32_t slot = 0;                             ///< Column
   sql::CompareOp compare = sql::CompareOp::Eq;   ///< Compare, AnyArray
   bool negated = false;                          ///< InSet, AnyArray
   bool explicitCast = false;                     ///< TypmodCast
   alignas(16) std::array<std::byte, 16> value{}; ///< Constant, as a flat vector holds it
   std::string bytes;                             ///< Constant: what a long string in `value` points at
   ValidityWord valueValidity = ~ValidityWord{0}; ///< Constant: bit 0
   std::unique_ptr<ConstantSet> set;              ///< InSet
   KernelEntry kernel;                            ///< Call, AnyArray with a function
   Oid function = invalidOid;
   Oid elementType = invalidOid;         ///< Array
   std::vector<SqlType> argTypes;        ///< Call, TextCast, AnyArray
   std::vector<Representation> argReprs; ///< of args

   bool isTotal = false;     ///< cannot fail and has no effect, with everything below
   bool isVolatile = false;  ///< differs from call to call
   bool isInvariant = false; ///< reads no column and is not volatile: evaluated once per state
   uint32_t uses = 0;        ///< parents, roots included; more than one: the value is kept for the batch
   uint32_t buffer = noBuffer;
   /// Total and reading this slot only: may be computed per entry of a stored dictionary.
   std::optional<uint32_t> dictionarySlot;

   Vector constantVector() const {
      return Vector::constant(repr.physical, value.data(), (valueValidity & 1) ? nullptr : &valueValidity);
   }
};

struct ExpressionProgram::Code {
   std::vector<std::unique_ptr<Node>> nodes;
   std::vector<uint32_t> roots;
   std::vector<uint32_t> bufferValueSizes; ///< bytes per value of each result buffer
};

} // namespace ouzel::executor
