#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Parsing of HTTP/1.1 responses. Input comes from the network: every input gives a result, and the stored bytes are
// bounded.

namespace ouzel::io {

/// A response's status line and headers.
struct HttpHead {
   int status = 0;
   std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case, values without outer blanks
   /// Length of the body. Without it and without isChunked, the body ends when the connection closes.
   std::optional<uint64_t> contentLength;
   bool isChunked = false;
   /// Whether the connection may be used again after the body.
   bool isKeptAlive = false;

   /// The value of a header; empty when it is absent.
   std::string_view header(std::string_view name) const;
   /// Whether a response with this status has no body, even if headers announce one. Answers to HEAD have none either.
   bool hasNoBody() const { return status == 204 || status == 304 || status < 200; }
};

inline constexpr size_t httpHeadSizeMax = 16 << 10;

enum class HttpParse : uint8_t { NeedMore, Complete, Invalid };

/// Parses a head at the beginning of `bytes`. Complete: `headSize` is its length. Invalid: not HTTP/1.x, ambiguous
/// about the body's end, or longer than httpHeadSizeMax.
HttpParse parseHttpHead(std::string_view bytes, HttpHead& head, size_t& headSize);

/// Decodes a chunked body, piece by piece.
class ChunkDecoder {
public:
   /// Decodes `bytes` and appends the body's bytes to `body`. Complete: the last chunk and the trailer have ended after
   /// `consumed` bytes. Invalid: not a chunked body, or longer than `bodySizeMax` in all.
   HttpParse feed(std::string_view bytes, size_t& consumed, std::string& body, size_t bodySizeMax);

private:
   enum class State : uint8_t { Size, Extension, SizeEnd, Data, DataReturn, DataEnd, Trailer, TrailerLine, TrailerEnd };
   HttpParse step(char c);

   State state_ = State::Size;
   uint64_t left_ = 0;
   uint32_t digits_ = 0, trailerBytes_ = 0;
};

/// The numbers of a Content-Range header, "bytes 0-99/200".
struct ContentRange {
   uint64_t first = 0, last = 0, total = 0;
};
std::optional<ContentRange> parseContentRange(std::string_view text);
/// Parses a decimal number without sign and blanks; none for other texts.
std::optional<uint64_t> parseUnsigned(std::string_view text);

} // namespace ouzel::io
