#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::catalog {

/// A table in COPY's text format, with column names in the first line: the format of compiled-in rows. Fields are views
/// into the text; fields with escapes are views into memory that the table owns. Read-only once constructed.
class TextTable {
public:
   using Field = std::optional<std::string_view>;

   /// Parses `text`, which must outlive the table. Lines that begin with '#' are comments.
   explicit TextTable(std::string_view text);

   uint32_t columnCount() const { return static_cast<uint32_t>(names_.size()); }
   uint32_t rowCount() const { return static_cast<uint32_t>(fields_.size() / names_.size()); }
   /// Position of a column. An unknown name is an error of the build and aborts the process.
   uint32_t column(std::string_view name) const;
   bool hasColumn(std::string_view name) const;
   /// The field; empty for NULL.
   Field at(uint32_t row, uint32_t column) const {
      const std::string_view field = fields_[row * names_.size() + column];
      return field.data() == nullptr ? Field() : Field(field);
   }

private:
   std::string_view unescape(std::string_view raw);

   std::vector<std::string_view> names_;
   std::vector<std::string_view> fields_; ///< row-major; a null pointer is NULL
   std::vector<std::unique_ptr<std::string>> unescaped_;
};

} // namespace ouzel::catalog
