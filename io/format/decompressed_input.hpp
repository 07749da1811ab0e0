#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/format/sequential_input.hpp"

namespace ouzel::io {

/// Undoes the compression of a stream, in steps. Used by one thread.
class Decompressor {
public:
   virtual ~Decompressor() = default;
   /// Takes bytes from the front of `in` and writes at most `room` bytes to `out`; returns how many. Throws 22P04 for
   /// bytes that are no such stream.
   virtual size_t run(std::string_view& in, char* out, size_t room) = 0;
   /// Whether the stream may end here.
   bool isComplete() const { return isComplete_; }

protected:
   bool isComplete_ = true;
};

/// Reads a file of rows piece by piece, as SequentialInput does, and decompresses it if its name ends with .gz or .zst.
/// Used by one thread at a time.
class DecompressedInput {
public:
   /// As SequentialInput's.
   DecompressedInput(const std::string& path, const ObjectAccessPtr& access, size_t pieceSizeMax = SIZE_MAX);

   /// The next piece, valid until the next call; none at the end. Throws 22P04 for a file that is damaged or cut off.
   std::optional<std::string_view> next();
   /// Most memory in bytes that reading the file takes.
   static size_t memoryMax(const std::string& path);
   /// The bytes that the file may have when decompressed; a guess if it is compressed.
   static uint64_t likelySize(const InputFile& file);

private:
   SequentialInput input_;
   const std::unique_ptr<Decompressor> decompressor_; ///< null: the file is read as it is
   std::string_view in_;                              ///< of the current piece: what is not decompressed yet
   bool isAtEnd_ = false;                             ///< of the compressed file
   std::string out_;
};

} // namespace ouzel::io
