#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

namespace {

const std::pair<const char*, char> entities[] = {{"&lt;", '<'},  {"&gt;", '>'},   {"&quot;", '"'}, {"&apos;", '\''},
                                                 {"&#34;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}};

std::string xmlUnescape(std::string_view text) {
   std::string result;
   while (!text.empty()) {
      size_t used = 1;
      char c = text[0];
      for (const auto& [entity, meaning] : entities) {
         if (!text.starts_with(entity)) continue;
         used = std::string_view(entity).size();
         c = meaning;
         break;
      }
      result += c;
      text.remove_prefix(used);
   }
   return result;
}

} // namespace

HttpResponse errorResponse(const S3Error& error, std::string_view resource) {
   HttpResponse response;
   response.status = error.status;
   response.code = error.code;
   response.headers = error.headers;
   response.headers.emplace_back("Content-Type", "application/xml");
   response.body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>" + xmlElement("Code", error.code) +
                   xmlElement("Message", error.what());
   for (const auto& [name, text] : error.elements)
      response.body += xmlElement(name, text);
   response.body += xmlElement("Resource", resource) + "</Error>";
   if (error.status == 304) response.body.clear();
   return response;
}

std::string xmlEscape(std::string_view text) {
   std::string result;
   for (char c : text) {
      if (c == '<')
         result += "&lt;";
      else if (c == '>')
         result += "&gt;";
      else if (c == '&')
         result += "&amp;";
      else if (c == '"')
         result += "&quot;";
      else if (static_cast<unsigned char>(c) < 0x20)
         result += "&#" + std::to_string(static_cast<int>(c)) + ";";
      else
         result += c;
   }
   return result;
}

std::string xmlElement(std::string_view name, std::string_view text) {
   return "<" + std::string(name) + ">" + xmlEscape(text) + "</" + std::string(name) + ">";
}

std::vector<std::string> xmlContents(std::string_view xml, std::string_view name) {
   std::vector<std::string> result;
   const std::string open = "<" + std::string(name), close = "</" + std::string(name) + ">";
   for (size_t at = xml.find(open); at != std::string_view::npos; at = xml.find(open, at + 1)) {
      const size_t after = at + open.size();
      if (after >= xml.size() || (xml[after] != '>' && xml[after] != ' ' && xml[after] != '\n')) continue;
      const size_t begin = xml.find('>', after), end = xml.find(close, after);
      if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
      result.emplace_back(xml.substr(begin + 1, end - begin - 1));
   }
   return result;
}

std::optional<std::string> xmlText(std::string_view xml, std::string_view name) {
   const auto contents = xmlContents(xml, name);
   if (contents.empty()) return std::nullopt;
   return xmlUnescape(contents[0]);
}

} // namespace ouzel::object_server
