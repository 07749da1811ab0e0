#include "io/http/response.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"

namespace ouzel::io {

namespace {

constexpr size_t headersMax = 128;

std::string_view trim(std::string_view text) {
   while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
      text.remove_prefix(1);
   while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
   return text;
}

char lowerChar(char c) {
   return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
   std::string result(text);
   std::transform(result.begin(), result.end(), result.begin(), lowerChar);
   return result;
}

/// Whether a comma-separated list contains the word.
bool hasWord(std::string_view list, std::string_view word) {
   while (!list.empty()) {
      const std::string_view item = list.substr(0, list.find(','));
      if (lower(trim(item)) == word) return true;
      list.remove_prefix(std::min(list.size(), item.size() + 1));
   }
   return false;
}

/// "HTTP/1.1 200 OK"
bool parseStatusLine(std::string_view line, HttpHead& head) {
   if (line.size() < 12 || !line.starts_with("HTTP/1.") || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
      return false;
   const auto status = parseUnsigned(line.substr(9, 3));
   if (!status || *status < 100 || *status > 599) return false;
   if (line.size() > 12 && line[12] != ' ') return false;
   head.status = static_cast<int>(*status);
   head.isKeptAlive = line[7] == '1';
   return true;
}

bool parseHeaderLine(std::string_view line, HttpHead& head) {
   const size_t colon = line.find(':');
   if (colon == std::string_view::npos || colon == 0 || head.headers.size() == headersMax) return false;
   const std::string_view rawName = line.substr(0, colon);
   if (!std::all_of(rawName.begin(), rawName.end(), isHttpTokenChar)) return false;
   std::string name = lower(rawName);
   const std::string_view value = trim(line.substr(colon + 1));
   if (std::any_of(value.begin(), value.end(), [](char c) { return c == '\0' || c == '\r'; })) return false;
   if (name == "content-length") {
      const auto length = parseUnsigned(value);
      if (!length || (head.contentLength && *head.contentLength != *length)) return false;
      head.contentLength = length;
   } else if (name == "transfer-encoding") {
      if (lower(value) != "chunked" || head.isChunked) return false;
      head.isChunked = true;
   } else if (name == "connection") {
      if (hasWord(value, "close"))
         head.isKeptAlive = false;
      else if (hasWord(value, "keep-alive"))
         head.isKeptAlive = true;
   }
   head.headers.emplace_back(std::move(name), value);
   return true;
}

} // namespace

std::string_view HttpHead::header(std::string_view name) const {
   for (const auto& [key, value] : headers)
      if (key == name) return value;
   return {};
}

HttpParse parseHttpHead(std::string_view bytes, HttpHead& head, size_t& headSize) {
   const size_t end = bytes.substr(0, httpHeadSizeMax).find("\r\n\r\n");
   if (end == std::string_view::npos) {
      static constexpr std::string_view start = "HTTP/1.";
      if (bytes.size() >= httpHeadSizeMax || !bytes.substr(0, start.size()).starts_with(start.substr(0, bytes.size())))
         return HttpParse::Invalid;
      return HttpParse::NeedMore;
   }
   headSize = end + 4;
   std::string_view rest = bytes.substr(0, end);
   head = HttpHead();
   bool isFirst = true;
   while (true) {
      const size_t lineEnd = rest.find("\r\n");
      const std::string_view line = rest.substr(0, lineEnd);
      if (!(isFirst ? parseStatusLine(line, head) : parseHeaderLine(line, head))) return HttpParse::Invalid;
      isFirst = false;
      if (lineEnd == std::string_view::npos) break;
      rest.remove_prefix(lineEnd + 2);
   }
   // With both, a proxy on the way could see another end of the body (RFC 9112, 6.1).
   if (head.isChunked && head.contentLength) return HttpParse::Invalid;
   if (!head.isChunked && !head.contentLength && !head.hasNoBody()) head.isKeptAlive = false;
   return HttpParse::Complete;
}

// One step of the state machine: one character, in all states but Data.
HttpParse ChunkDecoder::step(char c) {
   switch (state_) {
   case State::Size: {
      const char l = lowerChar(c);
      const int digit = l >= '0' && l <= '9' ? l - '0' : l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
      if (digit >= 0) {
         if (++digits_ > 15) return HttpParse::Invalid;
         left_ = left_ * 16 + static_cast<uint64_t>(digit);
         return HttpParse::NeedMore;
      }
      if (digits_ == 0) return HttpParse::Invalid;
      if (c == '\r')
         state_ = State::SizeEnd;
      else if (c == ';' || c == ' ')
         state_ = State::Extension;
      else
         return HttpParse::Invalid;
      return HttpParse::NeedMore;
   }
   case State::Extension:
      if (++trailerBytes_ > 4096 || c == '\n') return HttpParse::Invalid;
      if (c == '\r') state_ = State::SizeEnd;
      return HttpParse::NeedMore;
   case State::SizeEnd:
      if (c != '\n') return HttpParse::Invalid;
      state_ = left_ == 0 ? State::Trailer : State::Data;
      return HttpParse::NeedMore;
   case State::DataReturn: state_ = State::DataEnd; return c == '\r' ? HttpParse::NeedMore : HttpParse::Invalid;
   case State::DataEnd:
      state_ = State::Size;
      digits_ = 0;
      return c == '\n' ? HttpParse::NeedMore : HttpParse::Invalid;
   case State::Trailer: state_ = c == '\r' ? State::TrailerEnd : State::TrailerLine; return HttpParse::NeedMore;
   case State::TrailerLine:
      if (++trailerBytes_ > 4096) return HttpParse::Invalid;
      if (c == '\n') state_ = State::Trailer;
      return HttpParse::NeedMore;
   case State::TrailerEnd: return c == '\n' ? HttpParse::Complete : HttpParse::Invalid;
   case State::Data: break;
   }
   return HttpParse::Invalid;
}

HttpParse ChunkDecoder::feed(std::string_view bytes, size_t& consumed, std::string& body, size_t bodySizeMax) {
   consumed = 0;
   while (consumed < bytes.size()) {
      if (state_ == State::Data) {
         const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - consumed));
         if (body.size() + take > bodySizeMax) return HttpParse::Invalid;
         body.append(bytes.substr(consumed, take));
         consumed += take;
         left_ -= take;
         if (left_ == 0) state_ = State::DataReturn;
         continue;
      }
      const HttpParse result = step(bytes[consumed++]);
      if (result != HttpParse::NeedMore) return result;
   }
   return HttpParse::NeedMore;
}

std::optional<uint64_t> parseUnsigned(std::string_view text) {
   if (text.empty() || text.size() > 19) return std::nullopt;
   uint64_t result = 0;
   for (const char c : text) {
      if (c < '0' || c > '9') return std::nullopt;
      result = result * 10 + static_cast<uint64_t>(c - '0');
   }
   return result;
}

std::optional<ContentRange> parseContentRange(std::string_view text) {
   if (!text.starts_with("bytes ")) return std::nullopt;
   text.remove_prefix(6);
   const size_t dash = text.find('-'), slash = text.find('/');
   if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return std::nullopt;
   const auto first = parseUnsigned(text.substr(0, dash));
   const auto last = parseUnsigned(text.substr(dash + 1, slash - dash - 1));
   const auto total = parseUnsigned(text.substr(slash + 1));
   if (!first || !last || !total || *first > *last || *last >= *total) return std::nullopt;
   return ContentRange{*first, *last, *total};
}

} // namespace ouzel::io
