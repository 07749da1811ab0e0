#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "io/format/csv/row_format.hpp"
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// The options of read_json, with DuckDB's names.
struct JsonOptions {
   JsonLayout layout = JsonLayout::Auto; ///< format: auto, newline_delimited, array
   std::optional<bool> records;          ///< rows are objects, and their members the columns; nothing: as the sample is
   uint32_t sampleRows = 2'048;          ///< sample_size: rows that columns and types are guessed from
};

/// Throws 22023 for an invalid value, 42883 for an unknown name, 0A000 for a format that is not read.
JsonOptions parseJsonOptions(const std::vector<ExternalOption>& options);

} // namespace ouzel::io
