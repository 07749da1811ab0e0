#include "protocol/result_writer.hpp"

#include <fmt/format.h>

#include "common/error/check.hpp"
#include "protocol/message_reader.hpp"
#include "protocol/message_writer.hpp"

namespace ouzel::protocol {

void ResultWriter::flush() {
   if (out_.empty()) return;
   // out_ is emptied before send() may throw: bytes that fail once are not sent again.
   std::string bytes;
   bytes.swap(out_);
   transport_.send(bytes);
   bytes.clear();
   if (out_.empty()) out_.swap(bytes); // keep the memory for later output
}

void ResultWriter::startStatement(Backend& backend, bool isSimpleProtocol) {
   backend_ = &backend;
   isSimpleProtocol_ = isSimpleProtocol;
   copy_ = Copy::None;
   formats_.clear();
}

void ResultWriter::finishStatement() {
   if (copy_ == Copy::Out) appendEmptyMessage(out_, 'c');
   copy_ = Copy::None;
   flushIfLarge();
}

void ResultWriter::begin(const std::vector<ResultColumn>& columns) {
   DCHECK(backend_ != nullptr); // begin() needs a startStatement() before it
   encoder_.begin(columns, formats_, backend_->valueEncoder());
   if (isSimpleProtocol_) appendRowDescription(out_, columns, formats_, clientText());
}

void ResultWriter::rows(const Batch& batch) {
   const uint32_t live = batch.liveRows();
   for (uint32_t row = 0; row < live;) {
      row = encoder_.encode(batch, row, out_);
      flushIfLarge();
   }
}

void ResultWriter::copyResponse(char type, ValueFormat format, uint16_t columns) {
   MessageWriter message(out_, type);
   message.int8(static_cast<uint8_t>(format)).int16(columns);
   for (uint16_t i = 0; i < columns; ++i)
      message.int16(static_cast<uint16_t>(format));
   message.finish();
}

CopySource& ResultWriter::beginCopyIn(ValueFormat format, uint16_t columns) {
   DCHECK(copy_ == Copy::None);
   copyResponse('G', format, columns);
   flush();
   copy_ = Copy::In;
   return *this;
}

void ResultWriter::beginCopyOut(ValueFormat format, uint16_t columns) {
   DCHECK(copy_ == Copy::None);
   copyResponse('H', format, columns);
   copy_ = Copy::Out;
}

void ResultWriter::copyRows(std::string_view bytes, std::span<const uint32_t> ends) {
   uint32_t start = 0;
   for (const uint32_t end : ends) {
      DCHECK(start <= end);
      DCHECK(end <= bytes.size());
      const uint32_t size = end - start;
      const size_t at = out_.size();
      out_.resize(at + 5 + size);
      out_[at] = 'd';
      storeInt32(out_.data() + at + 1, size + 4);
      if (size != 0) std::memcpy(out_.data() + at + 5, bytes.data() + start, size);
      start = end;
      flushIfLarge();
   }
}

std::optional<std::string_view> ResultWriter::read() {
   if (copy_ != Copy::In) return std::nullopt;
   while (true) {
      const Frame frame = transport_.receive(Phase::Ready);
      switch (frame.type) {
      case 'd': return frame.payload;
      case 'c': copy_ = Copy::InDone; return std::nullopt;
      case 'f': {
         copy_ = Copy::InDone;
         std::string storage;
         const auto reason = clientText().fromClient(MessageReader(frame.payload).cstring(), storage);
         throw SqlError(sqlstate::queryCanceled, fmt::format("COPY from stdin failed: {}", reason));
      }
      case 'H':
      case 'S': break; // ignored during COPY, so that a client may pipeline COPY in the extended protocol
      default:
         copy_ = Copy::InDone;
         throw SqlError(
             sqlstate::protocolViolation,
             fmt::format("unexpected message type 0x{:02X} during COPY from stdin", static_cast<uint8_t>(frame.type)));
      }
   }
}

} // namespace ouzel::protocol
