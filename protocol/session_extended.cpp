// The extended query protocol: one function per message, in the order a client sends them. And the function call.

#include <deque>
#include <fmt/format.h>

#include "common/error/check.hpp"
#include "protocol/message_reader.hpp"
#include "protocol/message_writer.hpp"
#include "protocol/session.hpp"

namespace ouzel::protocol {

namespace {

ValueFormat readFormat(MessageReader& reader) {
   const int16_t code = reader.int16();
   if (code != 0 && code != 1)
      throw SqlError(sqlstate::invalidParameterValue, fmt::format("unsupported format code: {}", code));
   return static_cast<ValueFormat>(code);
}

std::vector<ValueFormat> readFormats(MessageReader& reader) {
   const auto count = static_cast<uint16_t>(reader.int16());
   if (reader.remaining() < size_t{count} * 2) MessageReader::throwMalformed("insufficient data left in message");
   std::vector<ValueFormat> formats(count);
   for (ValueFormat& format : formats)
      format = readFormat(reader);
   return formats;
}

/// `converted` keeps the texts that are not as the message has them.
std::vector<RawParameter> readParameters(MessageReader& reader, uint16_t count, std::span<const ValueFormat> formats,
                                         const ClientText& client, std::deque<std::string>& converted) {
   std::vector<RawParameter> parameters;
   for (uint16_t i = 0; i < count; ++i) {
      RawParameter parameter;
      parameter.format = formatOf(formats, i);
      const int32_t length = reader.int32();
      if (length < -1) MessageReader::throwMalformed("insufficient data left in message");
      parameter.isNull = length == -1;
      if (!parameter.isNull) parameter.bytes = reader.bytes(static_cast<size_t>(length));
      if (parameter.format == ValueFormat::Text && !parameter.isNull) {
         std::string storage;
         parameter.bytes = client.fromClient(parameter.bytes, storage);
         if (parameter.bytes.data() == storage.data()) parameter.bytes = converted.emplace_back(std::move(storage));
      }
      parameters.push_back(parameter);
   }
   return parameters;
}

} // namespace

std::string Session::readName(MessageReader& reader) const {
   std::string storage;
   return std::string(clientText().fromClient(reader.cstring(), storage));
}

void Session::handleParse(MessageReader reader) {
   const auto name = readName(reader);
   std::string storage;
   const auto sql = clientText().fromClient(reader.cstring(), storage);
   const auto count = static_cast<uint16_t>(reader.int16());
   if (reader.remaining() < size_t{count} * 4) MessageReader::throwMalformed("insufficient data left in message");
   std::vector<Oid> types(count);
   for (Oid& type : types)
      type = static_cast<Oid>(reader.int32());
   reader.end();
   backend_->prepare(name, sql, types);
   appendEmptyMessage(out_, '1');
}

void Session::handleBind(MessageReader reader) {
   const auto portal = readName(reader);
   const auto statement = readName(reader);
   const auto parameterFormats = readFormats(reader);
   const auto count = static_cast<uint16_t>(reader.int16());
   if (parameterFormats.size() > 1 && parameterFormats.size() != count)
      throw SqlError(sqlstate::protocolViolation, fmt::format("bind message has {} parameter formats but {} parameters",
                                                              parameterFormats.size(), count));
   std::deque<std::string> converted;
   const auto parameters = readParameters(reader, count, parameterFormats, clientText(), converted);
   const auto resultFormats = readFormats(reader);
   reader.end();
   backend_->bind(portal, statement, parameters, resultFormats);
   appendEmptyMessage(out_, '2');
}

void Session::handleDescribe(MessageReader reader) {
   const uint8_t kind = reader.int8();
   const auto name = readName(reader);
   reader.end();
   PortalDescription rows;
   if (kind == 'S') {
      const StatementDescription& description = backend_->describeStatement(name);
      MessageWriter message(out_, 't');
      message.int16(static_cast<uint16_t>(description.shownParameterTypes.size()));
      for (const Oid type : description.shownParameterTypes)
         message.int32(type);
      message.finish();
      rows = {description.returnsRows, description.columns, {}};
   } else if (kind == 'P') {
      rows = backend_->describePortal(name);
   } else {
      throw SqlError(sqlstate::protocolViolation, fmt::format("invalid DESCRIBE message subtype {}", kind));
   }
   if (rows.returnsRows)
      appendRowDescription(out_, rows.columns, rows.formats, clientText());
   else
      appendEmptyMessage(out_, 'n');
}

void Session::handleExecute(MessageReader reader) {
   const std::string portal = readName(reader);
   const int32_t maxRows = reader.int32();
   reader.end();
   results_.startStatement(*backend_, false);
   const ExecuteResult result = backend_->execute(portal, maxRows <= 0 ? 0 : static_cast<uint64_t>(maxRows), results_);
   results_.finishStatement();
   switch (result.kind) {
   case ExecuteResult::Kind::Complete: MessageWriter(out_, 'C').cstring(result.tag).finish(); break;
   case ExecuteResult::Kind::Suspended: appendEmptyMessage(out_, 's'); break;
   case ExecuteResult::Kind::Empty: appendEmptyMessage(out_, 'I'); break;
   }
}

void Session::handleClose(MessageReader reader) {
   const uint8_t kind = reader.int8();
   const auto name = readName(reader);
   reader.end();
   if (kind == 'S')
      backend_->closeStatement(name);
   else if (kind == 'P')
      backend_->closePortal(name);
   else
      throw SqlError(sqlstate::protocolViolation, fmt::format("invalid CLOSE message subtype {}", kind));
   appendEmptyMessage(out_, '3');
}

namespace {

/// Keeps the one value of a function's result as it goes over the wire.
class FunctionResult final : public ResultSink {
public:
   FunctionResult(Backend& backend, ValueFormat format) : backend_(backend), format_(format) {}

   void begin(const std::vector<ResultColumn>& columns) override {
      encoder_.begin(columns, std::span(&format_, 1), backend_.valueEncoder());
   }
   void rows(const Batch& batch) override {
      row_.clear();
      encoder_.encode(batch, 0, row_);
   }
   /// Its length and its bytes.
   std::string_view value() const {
      constexpr size_t headerBytes = 7; // of DataRow, before the first value
      DCHECK(row_.size() >= headerBytes + 4);
      return std::string_view(row_).substr(headerBytes);
   }

private:
   Backend& backend_;
   const ValueFormat format_;
   RowEncoder encoder_;
   std::string row_;
};

} // namespace

void Session::handleFunctionCall(MessageReader reader) {
   FunctionCall call;
   call.function = static_cast<Oid>(reader.int32());
   const auto formats = readFormats(reader);
   const auto count = static_cast<uint16_t>(reader.int16());
   call.formats = formats.size();
   std::deque<std::string> converted;
   // Arguments that have no format are refused when the function is known.
   const bool fits = formats.size() <= 1 || formats.size() == count;
   call.arguments =
       readParameters(reader, count, fits ? std::span<const ValueFormat>(formats) : std::span<const ValueFormat>(),
                      clientText(), converted);
   call.resultFormat = readFormat(reader);
   reader.end();
   FunctionResult result(*backend_, call.resultFormat);
   backend_->callFunction(call, result);
   MessageWriter(out_, 'V').bytes(result.value()).finish();
   readyForQuery();
}

void Session::handleSync(MessageReader reader) {
   reader.end();
   backend_->sync();
   readyForQuery();
}

} // namespace ouzel::protocol
