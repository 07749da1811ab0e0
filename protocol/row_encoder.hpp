#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/client/result_sink.hpp"
#include "common/text/client_text.hpp"

namespace ouzel::protocol {

/// Turns batches into DataRow messages: first each column as a whole (one call per column and batch chooses the codec;
/// text columns are not copied), then the rows from the columns. Keeps scratch memory between batches. One thread at a
/// time.
class RowEncoder {
public:
   /// `columns` and `values` must outlive the last encode(). `formats`: see formatOf(); 08P01 when their number does
   /// not fit.
   void begin(std::span<const ResultColumn> columns, std::span<const ValueFormat> formats, const ValueEncoder& values);
   /// Append DataRows for the live rows from the `first`-th on; when values are large, about sliceBytes at most.
   /// Returns the row to continue with; batch.liveRows() when done.
   uint32_t encode(const Batch& batch, uint32_t first, std::string& out);

   void releaseIdleMemory() { std::vector<Column>().swap(columns_); }

   static constexpr size_t sliceBytes = size_t{16} << 20;

private:
   struct Column {
      // PROPERTIES, set by begin()
      bool isPlainText = false; ///< the wire form is the string itself, in both formats
      ValueFormat format = ValueFormat::Text;
      uint8_t textGrowth = 2; ///< an upper guess of the wire's bytes for each byte of a value
      // STATE of the slice being encoded
      const Vector* vector = nullptr;
      std::string bytes;
      std::vector<uint32_t> ends;
   };
   void encodeColumn(size_t index, const Selection& slice);
   void assemble(const Selection& slice, std::string& out) const;

   std::span<const ResultColumn> shape_;
   const ValueEncoder* values_ = nullptr;
   std::vector<Column> columns_;
   std::vector<RowIndex> sliceRows_;
};

/// Append RowDescription. `formats`: see formatOf().
void appendRowDescription(std::string& out, std::span<const ResultColumn> columns, std::span<const ValueFormat> formats,
                          const ClientText& client);
/// pg_type.typlen: size of the type's internal form in PostgreSQL, -1 variable, -2 a C string.
int16_t typeLength(Oid type);

} // namespace ouzel::protocol
