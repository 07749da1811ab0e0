#pragma once
#include <string>
#include <string_view>

#include "common/type/session_format.hpp"
#include "common/type/user_types.hpp"

// Rows as text: (1,"a b",). For text_codec.cpp and for what makes rows.

namespace ouzel {

/// The columns of a row type. Throws XX000 without a catalog.
RowFields rowFields(Oid type, const SessionFormat& format);

/// record_out. `bytes` as row.hpp lays them out.
void appendRowText(std::string& out, std::string_view bytes, const SessionFormat& format);
/// record_in: the bytes of a row of the type. Throws 22P02 "malformed record literal" with PostgreSQL's detail.
std::string parseRowText(std::string_view text, Oid type, const SessionFormat& format);

} // namespace ouzel
