#include "tests/object_server/chunk_decoder.hpp"

#include <algorithm>
#include <charconv>

#include "tests/object_server/http.hpp"

namespace ouzel::object_server {

/// Appends to `line_` from `rest`. True: `line_` is complete, without its CRLF.
bool ChunkDecoder::takeLine(std::string_view& rest) {
   const size_t end = rest.find('\n');
   line_ += rest.substr(0, end);
   rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
   if (line_.size() > 16384) state_ = State::Malformed;
   if (end == std::string_view::npos) return false;
   if (!line_.empty() && line_.back() == '\r') line_.pop_back();
   return true;
}

void ChunkDecoder::endLine() {
   if (state_ == State::Size) {
      const size_t digits = std::min(line_.find(';'), line_.size());
      const auto [end, error] = std::from_chars(line_.data(), line_.data() + digits, left_, 16);
      if (error != std::errc() || end == line_.data())
         state_ = State::Malformed;
      else
         state_ = left_ == 0 ? State::Trailer : State::Data;
   } else if (state_ == State::AfterData) {
      state_ = line_.empty() ? State::Size : State::Malformed;
   } else if (line_.empty()) {
      state_ = State::End;
   } else if (const size_t colon = line_.find(':'); colon == std::string::npos) {
      state_ = State::Malformed;
   } else {
      const size_t value = line_.find_first_not_of(' ', colon + 1);
      trailers_.emplace_back(toLower(line_.substr(0, colon)), value == std::string::npos ? "" : line_.substr(value));
   }
   line_.clear();
}

size_t ChunkDecoder::feed(std::string_view bytes, const Sink& sink) {
   std::string_view rest = bytes;
   while (!rest.empty() && state_ != State::End && state_ != State::Malformed) {
      if (state_ == State::Data) {
         const std::string_view part = rest.substr(0, std::min<uint64_t>(left_, rest.size()));
         sink(part);
         rest.remove_prefix(part.size());
         left_ -= part.size();
         if (left_ == 0) state_ = State::AfterData;
      } else if (takeLine(rest)) {
         endLine();
      }
   }
   return bytes.size() - rest.size();
}

} // namespace ouzel::object_server
