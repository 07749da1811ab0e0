#pragma once
#include <functional>
#include <string>

#include "common/type/session_format.hpp"
#include "protocol/backend.hpp"

namespace ouzel::server {

/// Encodes values with common/type, in the session's formats.
class ValueCodec : public protocol::ValueEncoder {
public:
   void setFormat(const SessionFormat& format) { format_ = format; }
   /// Sets the function that gives the names of regclass, regtype and other reg types: the engine reads the catalog.
   void setNames(std::function<std::string(Oid type, Oid object)> names) { names_ = std::move(names); }
   void append(const Vector& values, const Selection& selection, const protocol::ResultColumn& column,
               protocol::Format format, std::string& bytes, uint32_t* ends) const override;

private:
   SessionFormat format_;
   std::function<std::string(Oid type, Oid object)> names_;
};

} // namespace ouzel::server
