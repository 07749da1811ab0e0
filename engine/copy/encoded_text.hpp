#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/text/client_text.hpp"

// The texts of COPY in an encoding that is not the server's.

namespace ouzel::engine {

/// Input of COPY FROM as UTF-8. Pieces may end inside a character.
class DecodedInput {
public:
   /// `input` gives the next piece, valid until the next call, or nothing at the end.
   DecodedInput(CharacterEncoding encoding, std::function<std::optional<std::string_view>()> input)
      : encoding_(encoding), input_(std::move(input)) {}
   /// The next piece, valid until the next call; never empty. Throws what ClientText::fromClient() throws.
   std::optional<std::string_view> next();

private:
   const CharacterEncoding encoding_;
   const std::function<std::optional<std::string_view>()> input_;
   std::string bytes_; ///< behind those that were given, the beginning of a character
   size_t given_ = 0;  ///< of bytes_
   std::string text_;
};

/// Output of COPY TO, from UTF-8.
class EncodedOutput {
public:
   using Write = std::function<void(std::string_view bytes, std::span<const uint32_t> ends)>;
   EncodedOutput(CharacterEncoding encoding, Write write) : client_(encoding), write_(std::move(write)) {}
   /// Rows, and where each ends. Throws what ClientText::toClient() throws.
   void operator()(std::string_view bytes, std::span<const uint32_t> ends) const;

private:
   const ClientText client_;
   const Write write_;
};

} // namespace ouzel::engine
