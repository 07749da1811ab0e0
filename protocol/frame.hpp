#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/memory/ledger.hpp"

// Cutting the client's byte stream into messages. Layout of a message (all integers big-endian):
//
//   startup phase:  int32 length (including itself) | payload
//   afterwards:     byte type | int32 length (including itself, not the type) | payload

namespace ouzel::protocol {

/// The phase of a connection: it decides which messages may come next, how they are framed and how large they may be.
enum class Phase : uint8_t {
   Startup,        ///< startup packet, SSLRequest, GSSENCRequest, CancelRequest: no type byte
   Authentication, ///< password messages only
   Ready,          ///< all messages after authentication
   Closed,
};

/// One complete message. `type` is 0 for startup packets. The payload points into the FrameReader.
struct Frame {
   char type = 0;
   std::string_view payload;
};

inline constexpr size_t startupPacketBytesMax = 10'000;
inline constexpr size_t authenticationMessageBytesMax = 65'535;
inline constexpr size_t smallMessageBytesMax = 10'000;
inline constexpr size_t largeMessageBytesMax = (size_t{1} << 30) - 2; ///< PostgreSQL's MaxAllocSize - 1

/// Collects bytes and returns complete messages. Its memory grows with the bytes that have arrived, not with the length
/// that a header claims, and is charged to the reservation before. Owned by a connection; one thread at a time.
class FrameReader {
public:
   /// `memory` outlives the reader.
   explicit FrameReader(Reservation& memory) : memory_(memory) {}

   /// Returns the place for the next bytes, with room for at least `bytes`. Invalidates frames returned before. Throws
   /// 53200.
   char* prepare(size_t bytes);
   void commit(size_t bytes) { end_ += bytes; }
   void append(std::string_view bytes);

   /// The next complete message, or nullopt when more bytes are needed. Valid until prepare(). Throws 08P01 as soon as
   /// a type or a length is invalid: message boundaries are then unknown, and the connection has to end.
   std::optional<Frame> next(Phase phase);

   size_t buffered() const { return end_ - begin_; }
   /// Bytes still missing from a message whose header is known, else 0: a hint for the size of the next read.
   size_t missing(Phase phase) const;
   /// Free the memory while nothing is buffered, so that an idle connection costs little.
   void releaseIdleMemory();

private:
   void grow(size_t bytes);

   Reservation& memory_; ///< of buffer_
   std::string buffer_;
   size_t begin_ = 0, end_ = 0;
};

} // namespace ouzel::protocol
