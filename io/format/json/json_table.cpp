#include "io/format/json/json_table.hpp"

#include "common/error/sql_error.hpp"
#include "io/format/decompressed_input.hpp"
#include "io/format/json/json_sniffer.hpp"
#include "io/format/json/json_splitter.hpp"

namespace ouzel::io {

namespace {

constexpr size_t sampleFilesMax = 16;
constexpr size_t samplePieceSize = 2 << 20;

/// Shows the sniffer a file's rows until it has seen enough.
void sample(const std::string& file, const ObjectAccessPtr& access, JsonLayout layout, JsonSniffer& sniffer) {
   const std::string subject = "JSON file \"" + file + "\"";
   DecompressedInput input(file, access, samplePieceSize);
   JsonSplitter splitter(layout);
   const auto see = [&](CopyChunk&& chunk) { sniffer.see(chunk, subject); };
   try {
      while (!sniffer.isFull()) {
         const auto piece = input.next();
         if (!piece) return splitter.finish(see);
         splitter.feed(*piece, see);
         splitter.cutRows(see);
      }
   } catch (SqlError& error) {
      if (error.contextText().empty()) error.setContext(subject);
      throw;
   }
}

} // namespace

JsonTable::JsonTable(const ExternalRequest& request) : format_(request.format) {
   const JsonOptions options = parseJsonOptions(request.options);
   JsonSniffer sniffer(options, request);
   size_t sampled = 0;
   access_ = request.access;
   for (const InputFile& file : findFiles(request.patterns, access_)) {
      files_.push_back(file.path);
      bytes_ += DecompressedInput::likelySize(file);
      if (file.size == 0 || sniffer.isFull() || sampled == sampleFilesMax) continue;
      sample(file.path, access_, options.layout, sniffer);
      ++sampled;
   }
   JsonShape shape = sniffer.shape(files_[0]);
   columns_ = std::move(shape.columns);
   keys_ = std::move(shape.keys);
   rows_.format = CopyFormat::Json;
   rows_.layout = options.layout;
   rows_.isDocument = shape.isDocument;
   estimatedRows_ = static_cast<double>(bytes_) / shape.bytesPerRow;
   if (request.types.empty() && !shape.isDocument)
      hint_ = "Types were guessed from the first rows. Name the columns to read: read_json(...) AS t(a text, b jsonb).";
}

} // namespace ouzel::io
