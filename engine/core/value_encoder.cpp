#include "engine/core/value_encoder.hpp"

#include "catalog/pg_catalog/functions.hpp"
#include "common/type/array_text.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/object_names.hpp"
#include "common/xml/declaration.hpp"

namespace ouzel::engine {

void throwBinaryTexts(SessionCore& core, Oid type, CharacterEncoding encoding) {
   const catalog::SearchPath path = core.searchPath();
   throwNotSupported("the binary format of type " +
                     catalog::formatType({core.transaction.catalog(), path}, type, std::nullopt) +
                     " in the client encoding " + std::string(encodingName(encoding)));
}

void SessionValueEncoder::append(const Vector& values, const Selection& selection, const ResultColumn& column,
                                 ValueFormat format, std::string& bytes, uint32_t* ends) const {
   const BinaryTexts texts = format == ValueFormat::Text ? BinaryTexts::Everywhere : textsInBinary(column.type.oid);
   if (!client_.converts() || texts == BinaryTexts::None)
      return appendOwn(values, selection, column, format, bytes, ends);
   if (texts == BinaryTexts::InParts) throwBinaryTexts(core_, column.type.oid, client_.encoding());
   const bool declares = format == ValueFormat::Binary && column.type.oid == oid::xml;
   std::string own, storage, declared;
   appendOwn(values, selection, column, format, own, ends);
   uint32_t start = 0;
   for (uint32_t i = 0; i < selection.count(); ++i) {
      const uint32_t end = ends[i];
      std::string_view value = std::string_view(own).substr(start, end - start);
      if (declares && end > start) { // says in which encoding it is
         declared.clear();
         xml::appendForClient(declared, value, encodingName(client_.encoding()));
         value = declared;
      }
      bytes += client_.toClient(value, storage);
      ends[i] = static_cast<uint32_t>(bytes.size());
      start = end;
   }
}

void SessionValueEncoder::appendOwn(const Vector& values, const Selection& selection, const ResultColumn& column,
                                    ValueFormat format, std::string& bytes, uint32_t* ends) const {
   if (format == ValueFormat::Binary)
      appendBinaryColumn(bytes, ends, column.type, column.representation, values, selection, format_.types);
   else if (isObjectName(column.type.oid) || isObjectName(arrayElementType(column.type.oid)))
      appendNames(values, selection, column.type.oid, bytes, ends);
   else
      appendTextColumn(bytes, ends, column.type, column.representation, values, selection, format_);
}

void SessionValueEncoder::appendNames(const Vector& values, const Selection& selection, Oid type, std::string& bytes,
                                      uint32_t* ends) const {
   const catalog::SearchPath path = core_.searchPath();
   const catalog::NameContext names{core_.transaction.catalog(), path};
   for (uint32_t i = 0; i < selection.count(); ++i) {
      const uint32_t row = selection.row(i);
      if (values.isNull(row)) {
      } else if (isObjectName(type)) {
         bytes += catalog::regOut(names, type, static_cast<Oid>(values.value<int64_t>(row)));
      } else {
         appendArrayText(bytes, values.value<StringView>(row).view(), [&](const SqlType& element, const Value& value) {
            return catalog::regOut(names, element.oid, static_cast<Oid>(value.i64));
         });
      }
      ends[i] = static_cast<uint32_t>(bytes.size());
   }
}

} // namespace ouzel::engine
