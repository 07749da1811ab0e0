#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "common/json/jsonb.hpp"
#include "executor/function/kernel_helpers.hpp"

// Parts of the json functions: paths of keys and subscripts, and values of jsonb as results of kernels.

namespace ouzel::executor {

/// A subscript in a path, as strtol reads it; nothing where the text is no integer of 32 bits.
std::optional<int32_t> subscriptOf(std::string_view text);

/// The result of -> : the value lies in the argument, which lives as long as the result.
inline StringView subvalue(const json::JsonbView& value) {
   return StringView(value.bytes());
}

/// The result of ->> : nothing for a JSON null.
std::optional<StringView> plainText(const json::JsonbView& value, KernelEnv& env);

} // namespace ouzel::executor
