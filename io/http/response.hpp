#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Reading HTTP/1.1 responses. Everything here comes from the network: whatever it is, the answer is a result, and what
// is stored is bounded.

namespace ouzel::io {

/// A response's status line and headers.
struct HttpHead {
   int status = 0;
   std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case, values without outer blanks
   /// What the body is: so many bytes, or chunks, or (neither) all until the connection closes.
   std::optional<uint64_t> contentLength;
   bool isChunked = false;
   /// The connection may be used again once the body was read.
   bool isKeptAlive = false;

   /// Empty when there is none.
   std::string_view header(std::string_view name) const;
   /// The response has no body whatever its headers say, other than to HEAD.
   bool hasNoBody() const { return status == 204 || status == 304 || status < 200; }
};

inline constexpr size_t httpHeadSizeMax = 16 << 10;

enum class HttpParse : uint8_t { NeedMore, Complete, Invalid };

/// Look for a whole head at the beginning of `bytes`: Complete says how long it is in `headSize`. Invalid: it is not
/// HTTP/1.x, ambiguous about where the body ends, or longer than httpHeadSizeMax.
HttpParse parseHttpHead(std::string_view bytes, HttpHead& head, size_t& headSize);

/// Takes the chunks' frames out of a body.
class ChunkDecoder {
public:
   /// Consume `bytes` and append what belongs to the body to `body`. Complete: the last chunk and the trailer are
   /// through, `consumed` bytes belonged to them. Invalid: not a chunked body, or longer than `bodySizeMax` in all.
   HttpParse feed(std::string_view bytes, size_t& consumed, std::string& body, size_t bodySizeMax);

private:
   enum class State : uint8_t { Size, Extension, SizeEnd, Data, DataReturn, DataEnd, Trailer, TrailerLine, TrailerEnd };
   HttpParse step(char c);

   State state_ = State::Size;
   uint64_t left_ = 0;
   uint32_t digits_ = 0, trailerBytes_ = 0;
};

/// The numbers of "bytes 0-99/200"; nothing when it is not that.
struct ContentRange {
   uint64_t first = 0, last = 0, total = 0;
};
std::optional<ContentRange> parseContentRange(std::string_view text);
/// A decimal number without sign and blanks.
std::optional<uint64_t> parseUnsigned(std::string_view text);

} // namespace ouzel::io
