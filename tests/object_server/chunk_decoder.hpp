#pragma once
// Decodes the chunked framing that HTTP's transfer coding and S3's aws-chunked share: SIZE[;extension] CRLF bytes CRLF,
// repeated; at the end a chunk of size 0, trailers, and an empty line.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ouzel::object_server {

class ChunkDecoder {
public:
   using Sink = std::function<void(std::string_view)>;
   /// Passes content to `sink` and stops behind the end. Returns the bytes used. A malformed body sets isMalformed().
   size_t feed(std::string_view bytes, const Sink& sink);
   bool isComplete() const { return state_ == State::End; }
   bool isMalformed() const { return state_ == State::Malformed; }
   /// Names in lower case.
   const std::vector<std::pair<std::string, std::string>>& trailers() const { return trailers_; }

private:
   enum class State : uint8_t { Size, Data, AfterData, Trailer, End, Malformed };
   bool takeLine(std::string_view& rest);
   void endLine();

   State state_ = State::Size;
   std::string line_; ///< beginning of an incomplete line
   uint64_t left_ = 0;
   std::vector<std::pair<std::string, std::string>> trailers_;
};

} // namespace ouzel::object_server
