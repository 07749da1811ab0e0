#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Cutting the client's byte stream into messages. Layout of a message (all integers big-endian):
//
//   startup phase:  int32 length (including itself) | payload
//   afterwards:     byte type | int32 length (including itself, not the type) | payload

namespace ouzel::protocol {

/// Which messages may come next, and so how they are framed and how large they may be.
enum class Phase : uint8_t {
   Startup,        ///< startup packet, SSLRequest, GSSENCRequest, CancelRequest: no type byte
   Authentication, ///< password messages only
   Ready,          ///< everything else
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

/// Collects bytes and hands out messages. Grows with what has arrived, not with what a length field claims. Owned by a
/// connection; one thread at a time.
class FrameReader {
public:
   /// Where to put the next bytes: room for at least `bytes`. Invalidates frames handed out before.
   char* prepare(size_t bytes);
   void commit(size_t bytes) { end_ += bytes; }
   void append(std::string_view bytes);

   /// The next complete message, or nullopt when more bytes are needed. Valid until prepare(). Throws 08P01 as soon as
   /// a type or a length cannot be right; the stream is out of step then and the connection has to end.
   std::optional<Frame> next(Phase phase);

   size_t buffered() const { return end_ - begin_; }
   /// Bytes still missing from a message whose header is known, else 0: a hint for the size of the next read.
   size_t missing(Phase phase) const;
   /// Give the memory back while nothing is buffered: an idle connection shall cost little.
   void releaseIdleMemory();

private:
   std::string buffer_;
   size_t begin_ = 0, end_ = 0;
};

} // namespace ouzel::protocol
