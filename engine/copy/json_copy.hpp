#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/copy/options.hpp"
#include "engine/core/copy_progress.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Writes rows as COPY TO does in the format json: each as an object on a line of its own, whose values are those of
/// row_to_json. A ResultSink in front of one that takes bytes. With FORCE_ARRAY the rows are elements of one array:
///
///    [
///     {"a":1}
///    ,{"a":2}
///    ]
class JsonCopyWriter final : public ResultSink {
public:
   /// `write` gets encoded rows: the bytes and the end of each row in them.
   using Write = std::function<void(std::string_view bytes, std::span<const uint32_t> ends)>;
   JsonCopyWriter(const CopyOptions& options, SessionCore& core, CopyProgress& progress, Write write)
      : isArray_(options.forceArray), functions_(core.functionContext()), progress_(progress),
        write_(std::move(write)) {}

   void begin(const std::vector<ResultColumn>& columns) override;
   void rows(const Batch& batch) override;
   /// The end of the array.
   void finish();

private:
   void appendRow(const Batch& batch, uint32_t row);
   void putLine(std::string_view line);

   // PROPERTIES
   const bool isArray_;
   const executor::FunctionContext functions_;
   CopyProgress& progress_;
   const Write write_;
   const std::vector<ResultColumn>* columns_ = nullptr;
   std::vector<std::string> beforeValue_; ///< of each column: the brace or comma, and the key
   bool hasJson_ = false;                 ///< a column whose text may have line breaks
   // STATE
   bool isFirst_ = true;
   std::string out_;
   std::vector<uint32_t> ends_;
};

} // namespace ouzel::engine
