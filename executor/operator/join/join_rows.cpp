#include "executor/operator/join/join_rows.hpp"

#include <cstring>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

void JoinRowWriter::write(TupleBuffer& buffer, const RowLayout& layout, const LiveColumn* columns, uint32_t count,
                          const uint64_t* hashes) {
   DCHECK(count <= batchRowsMax);
   bool hasLong = false;
   if (layout.hasVariableSize()) {
      std::memset(sizes_, 0, count * sizeof(sizes_[0]));
      for (uint32_t c = 0; c < layout.columnCount(); ++c)
         if (isVariableSize(layout.type(c))) hasLong |= addVariableSizes(columns[c], count, sizes_);
   }
   buffer.store(hashes, hasLong ? sizes_ : nullptr, count, rows_, heap_);
   for (uint32_t c = 0; c < layout.columnCount(); ++c)
      scatterColumn(layout, c, columns[c], count, rows_, hasLong ? heap_ : nullptr);
}

void throwMoreThanOneRow() {
   throw SqlError(sqlstate::cardinalityViolation, "more than one row returned by a subquery used as an expression");
}

} // namespace ouzel::executor
