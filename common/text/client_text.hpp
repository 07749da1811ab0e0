#pragma once
#include <string>
#include <string_view>

#include "common/text/encoding.hpp"

namespace ouzel {

/// Texts on the way between a client and the server, whose texts are UTF-8. Results are `text` itself where nothing
/// changes, or `storage`. Clients with SQL_ASCII take and give UTF-8.
class ClientText {
public:
   explicit ClientText(CharacterEncoding encoding) : encoding_(encoding) {}

   /// Whether the client's bytes are others than the server's.
   bool converts() const { return encoding_ != CharacterEncoding::Utf8 && encoding_ != CharacterEncoding::SqlAscii; }
   /// Throws 22021 for bytes that are no text of the encoding, 22P05 for a character that is not in UTF-8.
   std::string_view fromClient(std::string_view text, std::string& storage) const;
   /// Throws 22P05 for a character that the encoding does not have.
   std::string_view toClient(std::string_view text, std::string& storage) const;
   /// For messages that have to come through: such a character becomes "?".
   std::string toClientAnyway(std::string_view text) const;
   CharacterEncoding encoding() const { return encoding_; }

private:
   CharacterEncoding encoding_;
};

} // namespace ouzel
