#include "io/format/decompressed_input.hpp"

#include <zlib.h>
#include <zstd.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr size_t pieceSize = 1 << 20;
constexpr size_t windowSize = 8 << 20;    ///< that zstd's usual levels look back
constexpr uint64_t likelyCompression = 4; ///< of text, at least

enum class Compression : uint8_t { None, Gzip, Zstd };

[[noreturn]] void throwDamaged(const char* what) {
   throw SqlError(sqlstate::badCopyFileFormat, std::string("could not decompress file: ") + what);
}

/// By the name. A URL's parameters are no part of it.
Compression compressionOf(std::string_view path) {
   if (isObjectUrl(path)) path = path.substr(0, path.find('?'));
   return path.ends_with(".gz") ? Compression::Gzip : path.ends_with(".zst") ? Compression::Zstd : Compression::None;
}

/// One or more gzip members, one after the other.
class Gunzip final : public Decompressor {
public:
   Gunzip() {
      constexpr int gzipOnly = 16 + MAX_WBITS;
      if (::inflateInit2(&stream_, gzipOnly) != Z_OK) throwDamaged("out of memory");
   }
   ~Gunzip() override { ::inflateEnd(&stream_); }
   Gunzip(const Gunzip&) = delete;
   Gunzip& operator=(const Gunzip&) = delete;

   size_t run(std::string_view& in, char* out, size_t room) override {
      if (isComplete_ && !in.empty() && hasBegun_) ::inflateReset(&stream_);
      hasBegun_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data())); // zlib only reads it
      stream_.avail_in = static_cast<uInt>(in.size());
      stream_.next_out = reinterpret_cast<Bytef*>(out);
      stream_.avail_out = static_cast<uInt>(room);
      const int result = isComplete_ && in.empty() ? Z_BUF_ERROR : ::inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
         throwDamaged(stream_.msg ? stream_.msg : "invalid gzip data");
      if (result != Z_BUF_ERROR) isComplete_ = result == Z_STREAM_END;
      in.remove_prefix(in.size() - stream_.avail_in);
      return room - stream_.avail_out;
   }

private:
   ::z_stream stream_{};
   bool hasBegun_ = false;
};

/// One or more frames of Zstandard.
class Unzstd final : public Decompressor {
public:
   Unzstd() : stream_(::ZSTD_createDStream(), ::ZSTD_freeDStream) {
      if (!stream_) throwDamaged("out of memory");
   }

   size_t run(std::string_view& in, char* out, size_t room) override {
      ::ZSTD_inBuffer input{in.data(), in.size(), 0};
      ::ZSTD_outBuffer output{out, room, 0};
      const size_t result = ::ZSTD_decompressStream(stream_.get(), &output, &input);
      if (::ZSTD_isError(result)) throwDamaged(::ZSTD_getErrorName(result));
      if (input.pos > 0 || output.pos > 0) isComplete_ = result == 0;
      in.remove_prefix(input.pos);
      return output.pos;
   }

private:
   const std::unique_ptr<::ZSTD_DStream, size_t (*)(::ZSTD_DStream*)> stream_;
};

std::unique_ptr<Decompressor> makeDecompressor(const std::string& path) {
   switch (compressionOf(path)) {
   case Compression::Gzip: return std::make_unique<Gunzip>();
   case Compression::Zstd: return std::make_unique<Unzstd>();
   default: return nullptr;
   }
}

} // namespace

DecompressedInput::DecompressedInput(const std::string& path, const ObjectAccessPtr& access, size_t pieceSizeMax)
   : input_(path, access, pieceSizeMax), decompressor_(makeDecompressor(path)) {}

size_t DecompressedInput::memoryMax(const std::string& path) {
   const bool isCompressed = compressionOf(path) != Compression::None;
   return SequentialInput::memoryMax(path) + (isCompressed ? windowSize + pieceSize : 0);
}

uint64_t DecompressedInput::likelySize(const InputFile& file) {
   return file.size * (compressionOf(file.path) != Compression::None ? likelyCompression : 1);
}

std::optional<std::string_view> DecompressedInput::next() {
   if (!decompressor_) return input_.next();
   out_.resize(pieceSize);
   size_t filled = 0;
   while (filled < out_.size()) {
      if (in_.empty() && !isAtEnd_) {
         const auto piece = input_.next();
         isAtEnd_ = !piece;
         in_ = piece.value_or(std::string_view());
      }
      const size_t made = decompressor_->run(in_, out_.data() + filled, out_.size() - filled);
      filled += made;
      if (isAtEnd_ && made == 0) break; // what the decompressor held back is out, too
   }
   if (filled > 0) return std::string_view(out_).substr(0, filled);
   if (!decompressor_->isComplete()) throwDamaged("it ends early");
   return std::nullopt;
}

} // namespace ouzel::io
