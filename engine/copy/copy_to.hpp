#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/copy/options.hpp"
#include "engine/core/copy_progress.hpp"
#include "engine/core/value_encoder.hpp"

namespace ouzel::engine {

/// Writes rows as COPY TO does: a ResultSink in front of one that takes bytes.
class CopyWriter final : public ResultSink {
public:
   /// `options` have an encoding, in which the values of the binary format are; other rows are UTF-8. `write` gets
   /// encoded rows: the bytes and the end of each row in them.
   using Write = std::function<void(std::string_view bytes, std::span<const uint32_t> ends)>;
   CopyWriter(const CopyOptions& options, SessionCore& core, CopyProgress& progress, Write write)
      : options_(options),
        encoder_(core, options.format == CopyFormat::Binary ? *options.encoding : CharacterEncoding::Utf8),
        progress_(progress), write_(std::move(write)) {}

   void begin(const std::vector<ResultColumn>& columns) override;
   void rows(const Batch& batch) override;
   /// The trailer of the binary format.
   void finish();

private:
   void put(std::string_view bytes, std::span<const uint32_t> ends);
   void appendField(std::string& out, std::string_view text, bool isNull, size_t column) const;

   const CopyOptions options_;
   const SessionValueEncoder encoder_;
   CopyProgress& progress_;
   const Write write_;
   const std::vector<ResultColumn>* columns_ = nullptr;
   std::vector<uint8_t> forceQuote_;
   bool hasBegun_ = false;
   std::string unwritten_; ///< of the binary format: the header, before the first row
};

} // namespace ouzel::engine
