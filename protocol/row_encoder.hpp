#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/backend.hpp"

namespace ouzel::protocol {

/// Turns batches into DataRow messages: first each column as a whole (one call per column and batch chooses the codec;
/// text columns are not copied), then the rows from the columns. Keeps scratch memory between batches. One thread at a
/// time; several encoders may share one ValueEncoder.
class RowEncoder {
public:
   /// `shape` and `values` must outlive the last encode().
   void begin(const ResultShape& shape, const ValueEncoder& values);
   /// Append DataRows for the live rows from the `first`-th on; when values are large, about sliceBytes at most.
   /// Returns the row to continue with; batch.liveRows() when done.
   uint32_t encode(const Batch& batch, uint32_t first, std::string& out);

   void releaseIdleMemory() { std::vector<Column>().swap(columns_); }

   static constexpr size_t sliceBytes = size_t{16} << 20;

private:
   struct Column {
      // PROPERTIES, set by begin()
      bool isPlainText = false; ///< the wire form is the string itself, in both formats
      // STATE of the slice being encoded
      const Vector* vector = nullptr;
      std::string bytes;
      std::vector<uint32_t> ends;
   };
   void encodeColumn(size_t index, const Selection& slice);
   void assemble(const Selection& slice, std::string& out) const;

   const ResultShape* shape_ = nullptr;
   const ValueEncoder* values_ = nullptr;
   std::vector<Column> columns_;
   std::vector<RowIndex> sliceRows_;
};

/// Append RowDescription. `formats` empty: text for all.
void appendRowDescription(std::string& out, const ResultShape& shape);
/// pg_type.typlen: size of the type's internal form in PostgreSQL, -1 variable, -2 a C string.
int16_t typeLength(Oid type);

} // namespace ouzel::protocol
