#include "io/format/csv/csv_table.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "io/format/csv/csv_sniffer.hpp"
#include "io/format/decompressed_input.hpp"

namespace ouzel::io {

namespace {

constexpr size_t sampleBytesMax = 4 << 20;

/// The first bytes of a file; `isWhole` tells whether these are all.
std::string beginningOf(const std::string& path, const ObjectAccessPtr& access, bool& isWhole) {
   std::string bytes;
   DecompressedInput input(path, access, sampleBytesMax);
   try {
      while (bytes.size() <= sampleBytesMax) {
         const auto piece = input.next();
         isWhole = !piece;
         if (isWhole) return bytes;
         bytes += *piece;
      }
   } catch (SqlError& error) {
      if (error.contextText().empty()) error.setContext("CSV file \"" + path + "\"");
      throw;
   }
   bytes.resize(sampleBytesMax);
   return bytes;
}

} // namespace

CsvTable::CsvTable(const ExternalRequest& request) : format_(request.format) {
   const CsvOptions options = parseCsvOptions(request.options);
   access_ = request.access;
   const std::vector<InputFile> found = findFiles(request.patterns, access_);
   for (const InputFile& file : found) {
      files_.push_back(file.path);
      bytes_ += DecompressedInput::likelySize(file);
   }
   // Empty files are skipped: they do not tell the columns.
   const auto first = std::find_if(found.begin(), found.end(), [](const InputFile& file) { return file.size > 0; });
   const std::string& path = first == found.end() ? found[0].path : first->path;
   bool isWhole = false;
   const std::string sample = beginningOf(path, access_, isWhole);
   CsvShape shape = sniffCsv(sample, isWhole, options, request, path);
   rows_ = shape.rows;
   columns_ = std::move(shape.columns);
   header_ = std::move(shape.header);
   estimatedRows_ = static_cast<double>(bytes_) / shape.bytesPerRow;
}

} // namespace ouzel::io
