#pragma once
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "executor/expression/constant_set.hpp"
#include "executor/expression/program.hpp"
#include "executor/function/registry.hpp"
#include "sql/algebra/expr.hpp"

// The graph of a compiled program. A node has a number, and the numbers of its arguments are lower. Included only
// within expression/.

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
   InSet, ///< args[0] IN `set`, or NOT IN if `negated`
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
   alignas(16) std::array<std::byte, 16> value{}; ///< Constant: the value as in a flat vector
   std::string bytes;                             ///< Constant: the bytes of a long string in `value`
   ValidityWord valueValidity = ~ValidityWord{0}; ///< Constant: bit 0 is clear for NULL
   std::unique_ptr<ConstantSet> set;              ///< InSet
   KernelEntry kernel;                            ///< Call; AnyArray with a function
   Oid function = invalidOid;
   Oid elementType = invalidOid;         ///< Array
   std::vector<SqlType> argTypes;        ///< Call, TextCast, AnyArray
   std::vector<Representation> argReprs; ///< of args

   /// Of which statement of a program errors of the node itself are; null: of none.
   std::shared_ptr<const sql::Origin> origin;
   bool isTraced = false;    ///< it may fail itself, and has an origin or is below a node with one
   bool isTotal = false;     ///< the node and all nodes below cannot fail and have no effect
   bool isVolatile = false;  ///< the value may differ from call to call
   bool isInvariant = false; ///< reads no column and is not volatile: evaluated once per state
   uint32_t uses = 0;        ///< parents, roots included; more than one: the value is kept for the batch
   uint32_t buffer = noBuffer;
   /// Set if the node is total and reads only this slot: may be evaluated once per entry of a stored dictionary.
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
