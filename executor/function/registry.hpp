#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"

// Registration, search and calling convention of scalar functions. A kernel is registered under PostgreSQL's
// pg_proc.prosrc ("int4pl", "text_substr") for one list of argument representations. A family of functions lives in one
// file and registers all of its kernels.

namespace ouzel::executor {

struct FunctionContext; // context.hpp: session format, clock, catalog, random numbers

/// The vector to which a kernel writes. The value of row r goes to position r; positions of rows that are not in
/// KernelCall::rows stay unspecified.
class ResultVector {
public:
   ResultVector(PhysicalType type, void* data, ValidityWord* validity, Arena& strings)
      : type_(type), data_(data), validity_(validity), strings_(&strings) {}

   template <typename T>
   T* values() {
      DCHECK(sizeof(T) == physicalSize(type_));
      return static_cast<T*>(data_);
   }
   void* data() { return data_; }
   /// The validity bits start as the NULLs of strict arguments (or all valid).
   void setNull(uint32_t row) {
      if (isVariableSize(type_)) static_cast<StringView*>(data_)[row] = StringView(); // NULL positions must be readable
      setValidBit(validity_, row, false);
      hasNulls_ = true;
   }
   /// For non-strict kernels, and for kernels that write whole validity words; these call noteNulls().
   ValidityWord* validity() { return validity_; }
   void noteNulls() { hasNulls_ = true; }
   bool hasNulls() const { return hasNulls_; }
   /// The arena for result strings; valid as long as the result vector.
   Arena& strings() { return *strings_; }
   PhysicalType type() const { return type_; }

private:
   PhysicalType type_;
   void* data_;
   ValidityWord* validity_;
   Arena* strings_;
   bool hasNulls_ = false;
};

/// A call of a kernel for the rows of `rows`. Strict kernels that may fail get only rows without NULL arguments. `rows`
/// has only rows whose value is needed (CASE, AND and OR narrow it before), so a kernel throws SqlError for the first
/// bad row.
struct KernelCall {
   std::span<const Vector> args;
   Selection rows;
   uint32_t rowCount; ///< highest row + 1 bound, ≤ batchRowsMax
   FunctionContext& context;
   SqlType resultType; ///< with typmod
   std::span<const SqlType> argTypes;
   std::span<const Representation> argReprs;
   Representation resultRepr;
   Oid function; ///< pg_proc OID, for kernels shared by several functions
};
using ScalarKernel = void (*)(const KernelCall& call, ResultVector& result);

struct KernelEntry {
   ScalarKernel kernel = nullptr;
   bool strict = true;
   /// Never throws and has no side effect: may run on dictionary entries that no live row uses, and on rows with NULLs.
   bool total = false;
};

/// For kernels that accept any representation of arguments, and read KernelCall::argReprs.
inline constexpr std::string_view anyArguments = "*";

/// Add a kernel. `arguments` spells physical types, one letter each: b Bool, h I16, i I32, l I64, w I128, f F32, d F64,
/// v Interval, n Decimal, s String; or anyArguments. Built-in functions that PostgreSQL writes in SQL (language 14) are
/// registered as "sql:" and their name ("sql:lpad"). Called from the families' registration functions at start only.
void registerKernel(std::string_view prosrc, std::string_view arguments, KernelEntry entry);
/// Null: there is no such kernel; the caller raises 0A000 `function x(y) is not supported`.
const KernelEntry* findKernel(std::string_view prosrc, std::span<const Representation> arguments);

/// Registers every family once; thread-safe.
void registerAllKernels();

} // namespace ouzel::executor
