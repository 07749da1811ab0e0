#include "protocol/frame.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "protocol/message_reader.hpp"

namespace ouzel::protocol {

namespace {

constexpr size_t idleBytesMax = 4096;

[[noreturn, gnu::cold]] void throwOutOfStep(const std::string& message) {
   throw SqlError(sqlstate::protocolViolation, message);
}

/// Largest payload of a message type; nullopt for types that no client sends.
std::optional<size_t> payloadBytesMax(char type) {
   switch (type) {
   case 'Q':
   case 'P':
   case 'B':
   case 'F':
   case 'd': return largeMessageBytesMax;
   case 'C':
   case 'D':
   case 'E':
   case 'H':
   case 'S':
   case 'X':
   case 'c':
   case 'f':
   case 'p': return smallMessageBytesMax;
   default: return std::nullopt;
   }
}

struct Header {
   size_t headerBytes, payloadBytes;
};

/// Decode a message's header; nullopt when bytes are missing. Throws 08P01 when the header is invalid.
std::optional<Header> readHeader(const char* bytes, size_t available, Phase phase) {
   if (phase == Phase::Startup) {
      if (available < 4) return std::nullopt;
      const uint32_t length = loadInt32(bytes);
      if (length < 8 || length > startupPacketBytesMax) throwOutOfStep("invalid length of startup packet");
      return Header{4, length - 4};
   }
   if (available < 1) return std::nullopt;
   const char type = bytes[0];
   size_t bytesMax = authenticationMessageBytesMax;
   if (phase == Phase::Ready) {
      const auto typeMax = payloadBytesMax(type);
      if (!typeMax) throwOutOfStep(fmt::format("invalid frontend message type {}", static_cast<uint8_t>(type)));
      bytesMax = *typeMax;
   } else if (type != 'p') {
      throwOutOfStep(fmt::format("expected SASL response, got message type {}", static_cast<uint8_t>(type)));
   }
   if (available < 5) return std::nullopt;
   const uint32_t length = loadInt32(bytes + 1);
   if (length < 4 || length - 4 > bytesMax) throwOutOfStep("invalid message length");
   return Header{5, length - 4};
}

} // namespace

void FrameReader::grow(size_t bytes) {
   const size_t before = buffer_.size();
   memory_.grow(bytes); // both buffers exist while the bytes move
   buffer_.resize(bytes);
   memory_.shrink(before);
}

char* FrameReader::prepare(size_t bytes) {
   DCHECK(begin_ <= end_);
   DCHECK(end_ <= buffer_.size());
   if (begin_ == end_) begin_ = end_ = 0;
   if (end_ + bytes > buffer_.size()) {
      if (begin_ > 0) {
         std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
         end_ -= begin_;
         begin_ = 0;
      }
      if (end_ + bytes > buffer_.size()) grow(std::max(end_ + bytes, 2 * buffer_.size()));
   }
   DCHECK(buffer_.size() - end_ >= bytes);
   return buffer_.data() + end_;
}

void FrameReader::append(std::string_view bytes) {
   std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
   commit(bytes.size());
}

std::optional<Frame> FrameReader::next(Phase phase) {
   if (phase == Phase::Closed) return std::nullopt;
   const char* start = buffer_.data() + begin_;
   const auto header = readHeader(start, buffered(), phase);
   if (!header || buffered() < header->headerBytes + header->payloadBytes) return std::nullopt;
   begin_ += header->headerBytes + header->payloadBytes;
   DCHECK(begin_ <= end_);
   return Frame{phase == Phase::Startup ? '\0' : start[0],
                std::string_view(start + header->headerBytes, header->payloadBytes)};
}

size_t FrameReader::missing(Phase phase) const {
   if (phase == Phase::Closed) return 0;
   const auto header = readHeader(buffer_.data() + begin_, buffered(), phase);
   if (!header) return 0;
   const size_t whole = header->headerBytes + header->payloadBytes;
   return whole > buffered() ? whole - buffered() : 0;
}

void FrameReader::releaseIdleMemory() {
   if (begin_ != end_ || buffer_.capacity() <= idleBytesMax) return;
   begin_ = end_ = 0;
   memory_.shrink(buffer_.size());
   std::string().swap(buffer_);
}

} // namespace ouzel::protocol
