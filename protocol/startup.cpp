#include "protocol/startup.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/text/utf8.hpp"
#include "protocol/message_reader.hpp"

namespace ouzel::protocol {

namespace {

constexpr uint32_t cancelRequestCode = 80877102, tlsRequestCode = 80877103, gssRequestCode = 80877104;
constexpr uint16_t majorVersion = 3;
constexpr size_t identifierBytesMax = 63; // NAMEDATALEN - 1

/// Cuts a name as PostgreSQL does, at the beginning of a character.
void cutName(std::string& name) {
   if (name.size() <= identifierBytesMax) return;
   size_t end = identifierBytesMax;
   while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
      --end;
   name.resize(end);
}

StartupPacket parseParameters(MessageReader& reader, uint16_t minorVersion) {
   StartupPacket packet;
   packet.minorVersion = minorVersion;
   std::string options;
   bool terminated = false;
   while (!reader.atEnd()) {
      const auto name = reader.cstring();
      if (name.empty()) {
         terminated = true;
         break;
      }
      const auto value = reader.cstring();
      checkUtf8(name);
      checkUtf8(value);
      if (name == "user")
         packet.request.user = value;
      else if (name == "database")
         packet.request.database = value;
      else if (name == "options")
         options = value;
      else if (name == "replication") {
         if (value != "false" && value != "off" && value != "no" && value != "0") throwNotSupported("replication");
      } else if (name.starts_with("_pq_."))
         packet.unknownOptions.emplace_back(name);
      else
         packet.request.settings.emplace_back(name, value);
   }
   if (!terminated || !reader.atEnd())
      MessageReader::throwMalformed("invalid startup packet layout: expected terminator as last byte");
   if (packet.request.user.empty())
      throw SqlError(sqlstate::invalidAuthorizationSpecification,
                     "no PostgreSQL user name specified in startup packet");
   if (packet.request.database.empty()) packet.request.database = packet.request.user;
   cutName(packet.request.user);
   cutName(packet.request.database);
   // `options` are added before the packet's own settings, so that the packet's settings win.
   std::vector<std::pair<std::string, std::string>> settings;
   parseCommandLineOptions(options, settings);
   settings.insert(settings.end(), std::make_move_iterator(packet.request.settings.begin()),
                   std::make_move_iterator(packet.request.settings.end()));
   packet.request.settings = std::move(settings);
   return packet;
}

std::vector<std::string> splitWords(std::string_view text) {
   std::vector<std::string> words;
   std::string word;
   bool inWord = false;
   for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
         if (inWord) words.push_back(std::move(word));
         word.clear();
         inWord = false;
         continue;
      }
      inWord = true;
      if (c == '\\' && i + 1 < text.size())
         word += text[++i];
      else if (c != '\\')
         word += c;
   }
   if (inWord) words.push_back(std::move(word));
   return words;
}

} // namespace

void parseCommandLineOptions(std::string_view options, std::vector<std::pair<std::string, std::string>>& settings) {
   const auto words = splitWords(options);
   for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      std::string assignment;
      if (word == "-c" && i + 1 < words.size())
         assignment = words[++i];
      else if (word.starts_with("-c") && word.size() > 2)
         assignment = word.substr(2);
      else if (word.starts_with("--"))
         assignment = word.substr(2);
      const size_t equals = assignment.find('=');
      if (equals == std::string::npos || equals == 0)
         throw SqlError(sqlstate::syntaxError,
                        fmt::format("invalid command-line argument for server process: {}", word));
      std::string name = assignment.substr(0, equals);
      if (word.starts_with("--")) std::replace(name.begin(), name.end(), '-', '_');
      settings.emplace_back(std::move(name), assignment.substr(equals + 1));
   }
}

FirstPacket parseFirstPacket(std::string_view payload) {
   MessageReader reader(payload);
   const auto code = static_cast<uint32_t>(reader.int32());
   if (code == cancelRequestCode) {
      CancelRequest cancel;
      if (reader.remaining() != 8) MessageReader::throwMalformed("invalid length of startup packet");
      cancel.key.processId = reader.int32();
      cancel.key.secret = reader.int32();
      return cancel;
   }
   if (code == tlsRequestCode) return TlsRequest{};
   if (code == gssRequestCode) return GssEncryptionRequest{};
   const auto major = static_cast<uint16_t>(code >> 16), minor = static_cast<uint16_t>(code);
   if (major != majorVersion)
      throw SqlError(sqlstate::featureNotSupported,
                     fmt::format("unsupported frontend protocol {}.{}: server supports 3.0 to 3.0", major, minor));
   return parseParameters(reader, minor);
}

} // namespace ouzel::protocol
