#pragma once
#include "engine/definition/definition.hpp"

namespace ouzel::engine {

/// Declares a table, its indexes and the sequences that its columns own logged or unlogged. Throws 42P16 for a
/// temporary table, and where a logged table would reference an unlogged one.
void setLogged(SessionCore& core, const catalog::Relation& table, bool logged);

} // namespace ouzel::engine
