#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The XML declaration, <?xml version="1.0" encoding="..." standalone="yes"?>, at the beginning of a value. Values keep
// the text that they came with. Who prints or joins them reads the declaration and writes another.

namespace ouzel::xml {

enum class Standalone : int8_t { Unsaid = -1, No = 0, Yes = 1 };

struct Declaration {
   std::optional<std::string> version;
   std::string encoding; ///< empty: unsaid
   Standalone standalone = Standalone::Unsaid;
   size_t size = 0; ///< its bytes in the text; 0: the text has none
};

/// What is wrong with a declaration, for the DETAIL of an error.
struct DeclarationError {
   const char* detail = nullptr; ///< null: nothing
};

/// Reads the declaration that `text` begins with. After an error, `out` has what was read before it.
DeclarationError readDeclaration(std::string_view text, Declaration& out);
/// Appends a declaration that says so, unless PostgreSQL would leave it out: when it says version 1.0 and nothing else.
/// `encoding`: of a client; empty: none is named. False: nothing was appended.
bool appendDeclaration(std::string& out, const std::optional<std::string>& version, std::string_view encoding,
                       Standalone standalone);

/// Appends the value as clients see it: without the encoding that its text was in once. `encoding` as above.
void appendForClient(std::string& out, std::string_view value, std::string_view encoding = {});

/// Bytes that a client has sent as a value, in the encoding that their declaration names; without one, UTF-8. Gives
/// UTF-8. Throws 22023 for unknown encodings, 22021 for bytes that are no text.
std::string received(std::string_view bytes);

} // namespace ouzel::xml
