#pragma once
#include "common/type/session_format.hpp"
#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// Encodes values for clients and for COPY in the formats that the session's settings have when it is made. Names of
/// regclass and the other reg types come from the transaction's catalog. REQUIRES: a transaction. Used by the session's
/// thread.
class SessionValueEncoder final : public ValueEncoder {
public:
   explicit SessionValueEncoder(SessionCore& core) : core_(core), format_(core.format()) {}
   void append(const Vector& values, const Selection& selection, const ResultColumn& column, ValueFormat format,
               std::string& bytes, uint32_t* ends) const override;

private:
   void appendNames(const Vector& values, const Selection& selection, Oid type, std::string& bytes,
                    uint32_t* ends) const;

   SessionCore& core_;
   const SessionFormat format_;
};

} // namespace ouzel::engine
