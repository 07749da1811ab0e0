#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"
#include "common/value/value.hpp"
#include "executor/expression/program.hpp"
#include "executor/function/context.hpp"

// Vectors of any encoding, for tests of kernels and expressions.

namespace ouzel::test {

/// Owns the memory of one vector.
class Column {
public:
   /// A flat vector; values may be NULL.
   static Column flat(PhysicalType type, std::vector<Value> values);
   static Column constant(PhysicalType type, Value value);
   /// A dictionary vector. Each value is once in the dictionary, and codes look random. `id`: Vector::dictionaryId.
   static Column dictionary(PhysicalType type, const std::vector<Value>& values, uint64_t id = 0);
   const Vector& vector() const { return vector_; }

private:
   void store(PhysicalType type, std::vector<Value> values);

   std::shared_ptr<std::vector<Value>> values_; // owns the bytes of strings
   std::shared_ptr<std::vector<uint128>> data_;
   std::shared_ptr<std::vector<ValidityWord>> validity_;
   std::shared_ptr<std::vector<uint16_t>> codes_;
   Vector vector_;
};

/// The selected rows of a vector as values.
std::vector<Value> rowsOf(const Vector& vector, Selection rows);
std::string toText(const Value& value);
inline Value intValue(int64_t v, PhysicalType type = PhysicalType::I32) {
   return Value::integer(type, v);
}

/// A context for functions that need no session.
executor::FunctionContext& testContext();
/// Memory without a limit.
Reservation& testMemory();

} // namespace ouzel::test
