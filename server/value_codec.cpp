#include "server/value_codec.hpp"

#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"

namespace ouzel::server {

void ValueCodec::append(const Vector& values, const Selection& selection, const protocol::ResultColumn& column,
                        protocol::Format format, std::string& bytes, uint32_t* ends) const {
   if (format == protocol::Format::Text)
      appendTextColumn(bytes, ends, column.type, column.representation, values, selection, format_);
   else
      appendBinaryColumn(bytes, ends, column.type, column.representation, values, selection);
}

} // namespace ouzel::server
