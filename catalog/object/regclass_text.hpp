#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {

/// An SQL text of the catalog in which relations that constants name, '<OID>'::regclass, are written as `textFor` says,
/// quotes not included; nullopt: as they are.
std::string replaceRegclasses(std::string_view sql, const std::function<std::optional<std::string>(Oid)>& textFor);

} // namespace ouzel::catalog
