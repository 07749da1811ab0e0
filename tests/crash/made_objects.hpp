#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ouzel::crash {

// The relations that the server_kill test creates and drops: of all kinds, each with one row and with the objects that
// its kind stands for. The number of the transaction that makes a relation tells its kind.

/// The statements that make the relation `table`.
std::vector<std::string> creation(const std::string& table, int64_t number);
/// The statements that drop it and what belongs to it.
std::vector<std::string> removal(const std::string& table, int64_t number);
/// A query that yields 1 if what belongs to the relation is there and works.
std::string proof(const std::string& table, int64_t number);

} // namespace ouzel::crash
