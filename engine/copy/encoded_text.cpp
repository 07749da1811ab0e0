#include "engine/copy/encoded_text.hpp"

#include <vector>

namespace ouzel::engine {

std::optional<std::string_view> DecodedInput::next() {
   const ClientText client(encoding_);
   while (true) {
      bytes_.erase(0, given_);
      const auto piece = input_();
      given_ = piece ? wholeCharacterBytes(encoding_, bytes_ += *piece) : bytes_.size();
      if (given_ > 0) return client.fromClient(std::string_view(bytes_).substr(0, given_), text_);
      if (!piece) return std::nullopt;
   }
}

void EncodedOutput::operator()(std::string_view bytes, std::span<const uint32_t> ends) const {
   std::string encoded, storage;
   std::vector<uint32_t> encodedEnds;
   uint32_t start = 0;
   for (const uint32_t end : ends) {
      encoded += client_.toClient(bytes.substr(start, end - start), storage);
      encodedEnds.push_back(static_cast<uint32_t>(encoded.size()));
      start = end;
   }
   write_(encoded, encodedEnds);
}

} // namespace ouzel::engine
