#pragma once
#include "common/text/client_text.hpp"
#include "common/type/session_format.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// 0A000: texts in parts of a type's binary format are converted neither way.
[[noreturn]] void throwBinaryTexts(SessionCore& core, Oid type, CharacterEncoding encoding);

/// Encodes values for clients and for COPY in the formats and the encoding that the session's settings have when it is
/// made. Names of regclass and the other reg types come from the transaction's catalog. REQUIRES: a transaction. Used
/// by the session's thread.
class SessionValueEncoder final : public ValueEncoder {
public:
   explicit SessionValueEncoder(SessionCore& core) : SessionValueEncoder(core, core.settings.clientEncoding()) {}
   SessionValueEncoder(SessionCore& core, CharacterEncoding encoding)
      : core_(core), format_(core.format()), client_(encoding) {}
   bool keepsText() const override { return !client_.converts(); }
   void append(const Vector& values, const Selection& selection, const ResultColumn& column, ValueFormat format,
               std::string& bytes, uint32_t* ends) const override;

private:
   void appendOwn(const Vector& values, const Selection& selection, const ResultColumn& column, ValueFormat format,
                  std::string& bytes, uint32_t* ends) const;
   void appendNames(const Vector& values, const Selection& selection, Oid type, std::string& bytes,
                    uint32_t* ends) const;

   SessionCore& core_;
   const SessionFormat format_;
   const ClientText client_;
};

} // namespace ouzel::engine
