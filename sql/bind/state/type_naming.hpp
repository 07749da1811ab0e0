#pragma once
#include <string>

#include "sql/bind/state/bind_context.hpp"

namespace ouzel::sql {

/// While it lives, errors of this thread name users' types as the context's catalog does.
class TypeNaming {
public:
   explicit TypeNaming(const BindContext& context);
   ~TypeNaming();
   TypeNaming(const TypeNaming&) = delete;

private:
   const BindContext* outer_;
};

/// format_type() of a type that users made; "record" where no TypeNaming lives.
std::string userTypeName(Oid type);

} // namespace ouzel::sql
