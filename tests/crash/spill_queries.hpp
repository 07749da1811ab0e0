#pragma once
#include <string>
#include <vector>

// Statements that spill: one for each way in which an operator spills rows and reads them back. They need the tables of
// setUpSpillTables(), which have too many rows for the session's own thread.

namespace ouzel::crash {

class Client;

struct SpillQuery {
   const char* what;
   const char* text;
   bool surelySpills = true; ///< false for operators that keep some memory in any case
   /// The error with which the statement fails near its end; null: it succeeds.
   const char* sqlstate = nullptr;
};

extern const std::vector<SpillQuery> spillQueries;

/// Makes the tables `many` (n, k, t) of 17,000 rows, `few` of 300 rows, and `changed`.
void setUpSpillTables(Client& client);

/// Makes the session's queries spill: a low memory_limit and ouzel.spill_all.
void makeSpill(Client& client);

/// Runs the query and returns all values of its result as one text. Ends the test when the statement fails.
std::string answerOf(Client& client, const SpillQuery& query);

} // namespace ouzel::crash
