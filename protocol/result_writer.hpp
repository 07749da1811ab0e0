#pragma once
#include <string>
#include <vector>

#include "common/client/backend.hpp"
#include "protocol/row_encoder.hpp"
#include "protocol/transport.hpp"

namespace ouzel::protocol {

/// The ResultSink of a session: turns rows and COPY data into messages in the session's output, and sends the output
/// when it has grown to outputBytesMax. Also the CopySource of a running COPY FROM STDIN. One thread at a time.
class ResultWriter : public ResultSink, private CopySource {
public:
   ResultWriter(std::string& out, Transport& transport) : out_(out), transport_(transport) {}

   /// Call before each statement. In the simple protocol begin() sends RowDescription; in the extended one, Describe
   /// did.
   void startStatement(Backend& backend, bool isSimpleProtocol);
   /// Call after a statement without an error: ends a COPY TO.
   void finishStatement();

   void useFormats(std::span<const ValueFormat> requested) override {
      formats_.assign(requested.begin(), requested.end());
   }
   void begin(const std::vector<ResultColumn>& columns) override;
   void rows(const Batch& batch) override;
   CopySource& beginCopyIn(ValueFormat format, uint16_t columns) override;
   void beginCopyOut(ValueFormat format, uint16_t columns) override;
   void copyRows(std::string_view bytes, std::span<const uint32_t> ends) override;

   /// Send all output to the transport.
   void flush();

   void releaseIdleMemory() { encoder_.releaseIdleMemory(); }

   static constexpr size_t outputBytesMax = size_t{256} << 10; ///< larger output is sent without a flush()

private:
   std::optional<std::string_view> read() override;
   ClientText clientText() const { return ClientText(backend_->clientEncoding()); }
   void copyResponse(char type, ValueFormat format, uint16_t columns);
   void flushIfLarge() {
      if (out_.size() >= outputBytesMax) flush();
   }

   std::string& out_;
   Transport& transport_;
   Backend* backend_ = nullptr;
   bool isSimpleProtocol_ = true;
   std::vector<ValueFormat> formats_; // of the running portal, as Bind asked for them
   RowEncoder encoder_;
   enum class Copy : uint8_t { None, In, InDone, Out } copy_ = Copy::None;
};

} // namespace ouzel::protocol
