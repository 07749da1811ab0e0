#include "io/format/csv/csv_table.hpp"

#include <algorithm>

#include "io/format/csv/csv_sniffer.hpp"

namespace ouzel::io {

namespace {
constexpr uint64_t sampleBytesMax = 4 << 20;
} // namespace

CsvTable::CsvTable(const ExternalRequest& request) : format_(request.format) {
   const CsvOptions options = parseCsvOptions(request.options);
   const std::vector<InputFile> found = findFiles(request.patterns);
   for (const InputFile& file : found) {
      files_.push_back(file.path);
      bytes_ += file.size;
   }
   // Empty files are skipped: they do not tell the columns.
   const auto first = std::find_if(found.begin(), found.end(), [](const InputFile& file) { return file.size > 0; });
   const std::string& path = first == found.end() ? found[0].path : first->path;
   const auto reader = openInput(path);
   std::string sample(std::min(reader->size(), sampleBytesMax), '\0');
   reader->read(0, sample.size(), sample.data());
   CsvShape shape = sniffCsv(sample, sample.size() == reader->size(), options, request, path);
   rows_ = shape.rows;
   columns_ = std::move(shape.columns);
   header_ = std::move(shape.header);
   estimatedRows_ = static_cast<double>(bytes_) / shape.bytesPerRow;
}

} // namespace ouzel::io
