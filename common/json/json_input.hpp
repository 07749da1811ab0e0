#pragma once
#include <string_view>

#include "common/json/json_lexer.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"

// JSON text as input of json and jsonb. The text is valid UTF-8. Errors are those of Lexer and Parser.

namespace ouzel::json {

/// json_in: throws unless the text is JSON. A json value is the text itself.
void checkJson(std::string_view text);

/// jsonb_in: the bytes of the value, in the arena. Throws 22003 for numbers beyond numeric, 54000.
StringView parseJsonb(std::string_view text, Arena& arena);

/// Describes the value of JSON text to a writer.
void writeParsed(JsonbWriter& writer, std::string_view text);

/// The same for the value that begins with the lexer's token; the lexer moves behind it. REQUIRES: it decodes strings.
void writeParsed(JsonbWriter& writer, Lexer& lexer);

/// Checks the value that begins with the lexer's token, and moves the lexer behind it.
void skipValue(Lexer& lexer);

/// A copy in the arena of what the writer was told; ends the value.
StringView finishInto(JsonbWriter& writer, Arena& arena);

} // namespace ouzel::json
