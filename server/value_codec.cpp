#include "server/value_codec.hpp"

#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::server {

void ValueCodec::append(const Vector& values, const Selection& selection, const protocol::ResultColumn& column,
                        protocol::Format format, std::string& bytes, uint32_t* ends) const {
   if (format == protocol::Format::Text && names_ && isRegType(column.type.oid)) {
      for (uint32_t i = 0; i < selection.count(); ++i) {
         const uint32_t row = selection.row(i);
         if (!values.isNull(row)) bytes += names_(column.type.oid, static_cast<Oid>(values.value<int64_t>(row)));
         ends[i] = static_cast<uint32_t>(bytes.size());
      }
   } else if (format == protocol::Format::Text)
      appendTextColumn(bytes, ends, column.type, column.representation, values, selection, format_);
   else
      appendBinaryColumn(bytes, ends, column.type, column.representation, values, selection);
}

} // namespace ouzel::server
