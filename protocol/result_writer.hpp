#pragma once
#include <string>

#include "protocol/backend.hpp"
#include "protocol/row_encoder.hpp"
#include "protocol/transport.hpp"

namespace ouzel::protocol {

/// The ResultSink of a session: rows and COPY data become messages in the session's output, which goes to the
/// transport whenever it has grown large. Also the CopySource of a running COPY FROM STDIN.
class ResultWriter : public ResultSink, private CopySource {
public:
   ResultWriter(std::string& out, Transport& transport) : out_(out), transport_(transport) {}

   /// Before each statement. In the simple protocol begin() sends RowDescription, in the extended one Describe did.
   void startStatement(Backend& backend, bool isSimpleProtocol);
   /// After it ended well: closes a COPY TO.
   void finishStatement();

   void begin(const ResultShape& shape) override;
   void rows(const Batch& batch) override;
   CopySource& beginCopyIn(const CopyShape& shape) override;
   void beginCopyOut(const CopyShape& shape) override;
   void copyRows(std::string_view bytes, std::span<const uint32_t> ends) override;

   /// Hand everything to the transport.
   void flush();

   void releaseIdleMemory() { encoder_.releaseIdleMemory(); }

   static constexpr size_t outputBytesMax = size_t{256} << 10; ///< more than this is sent without being asked

private:
   std::optional<std::string_view> read() override;
   void copyResponse(char type, const CopyShape& shape);
   void flushIfLarge() {
      if (out_.size() >= outputBytesMax) flush();
   }

   std::string& out_;
   Transport& transport_;
   Backend* backend_ = nullptr;
   bool isSimpleProtocol_ = true;
   RowEncoder encoder_;
   enum class Copy : uint8_t { None, In, InDone, Out } copy_ = Copy::None;
};

} // namespace ouzel::protocol
