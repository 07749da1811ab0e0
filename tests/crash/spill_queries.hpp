#pragma once
#include <string>
#include <vector>

// Statements that spill, one for each way an operator has to put rows aside and take them back. For tables that
// setUp() makes: more rows than the session's own thread would work off alone.

namespace ouzel::crash {

class Client;

struct SpillQuery {
   const char* what;
   const char* text;
   bool surelySpills = true; ///< not what keeps some memory in any case
   /// What it fails with after most of its work is done; null: it succeeds.
   const char* sqlstate = nullptr;
};

extern const std::vector<SpillQuery> spillQueries;

/// Tables `many` (n, k, t), 17,000 rows, `few` of 300 and `changed`.
void setUpSpillTables(Client& client);

/// Let the session's queries spill.
void makeSpill(Client& client);

/// All values of a result as one text. Ends the test when the statement fails.
std::string answerOf(Client& client, const SpillQuery& query);

} // namespace ouzel::crash
