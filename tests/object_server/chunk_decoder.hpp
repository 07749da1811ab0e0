#pragma once
// The chunked framing that HTTP's transfer coding and S3's aws-chunked share: SIZE[;extension] CRLF bytes CRLF, at the
// end a chunk of no bytes, then trailers and an empty line.
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
   /// Hand the content to `sink`, stop after the end; how many bytes were used. Sets isMalformed() instead of throwing.
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
   std::string line_; ///< what has come of a line
   uint64_t left_ = 0;
   std::vector<std::pair<std::string, std::string>> trailers_;
};

} // namespace ouzel::object_server
