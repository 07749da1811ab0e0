#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/memory/arena.hpp"
#include "executor/expression/conjunct_order.hpp"
#include "executor/expression/node.hpp"

// The inside of an ExpressionState: one worker's memory while it evaluates a program. Included only within expression/.

namespace ouzel::executor {

/// The rows for which a value is wanted, and their scope. Scopes form a tree: the rows of a scope are a subset of its
/// parent's rows. So a value that was computed for a scope can be used in all scopes below.
struct Rows {
   Selection selection;
   uint32_t scope = 0;
};

/// The values of a total expression for every entry of a stored dictionary.
struct DictionaryResult {
   uint64_t dictionaryId = 0;
   uint32_t size = 0;
   uint32_t capacity = 0;
   void* data = nullptr;
   ValidityWord* validity = nullptr;
   bool hasNulls = false;
   std::unique_ptr<Arena> strings;
};

struct ExpressionState::Scratch {
   static constexpr uint32_t noScope = UINT32_MAX;

   struct Buffer {
      void* data = nullptr;
      ValidityWord* validity = nullptr;
   };
   struct NodeState {
      uint64_t memoEpoch = 0;
      uint32_t memoScope = 0;
      Vector memo;
      bool invariantReady = false;
      Vector invariant;
      std::vector<DictionaryResult> dictionaries;
      uint32_t nextDictionary = 0;
      std::unique_ptr<ConjunctOrder> order;
   };
   struct DictionarySeen {
      uint64_t dictionaryId = 0;
      uint64_t rowsSeen = 0;
      uint64_t epoch = 0;
      bool use = false;
   };

   Scratch(std::shared_ptr<const ExpressionProgram> p, FunctionContext& c, Reservation* reservation, uint32_t rowsMax);

   // PROPERTIES
   std::shared_ptr<const ExpressionProgram> program;
   const ExpressionProgram::Code& code;
   FunctionContext& context;
   Reservation* memory;
   const uint32_t rowsMax; ///< of a batch

   // STATE that is kept between batches
   Arena permanent; ///< buffers and invariant values
   Arena batchStrings;
   std::vector<Buffer> buffers;
   std::vector<NodeState> nodes;
   std::vector<RowIndex*> freeLists;
   std::vector<uint8_t*> freeFlags;
   std::vector<uint64_t*> freeHashes;
   std::unordered_map<uint32_t, DictionarySeen> dictionariesSeen; ///< by slot

   // STATE of the current batch
   uint64_t epoch = 0;
   const Batch* batch = nullptr;
   uint32_t rowCount = 0;
   Arena* strings = &batchStrings;           ///< arena for result strings
   const Vector* dictionaryValues = nullptr; ///< set while a dictionary is evaluated: replaces the slot's column
   std::vector<uint32_t> scopeParents;

   void beginBatch(const Batch& b);
   uint32_t newScope(uint32_t parent) {
      DCHECK(parent == noScope || parent < scopeParents.size());
      scopeParents.push_back(parent);
      return static_cast<uint32_t>(scopeParents.size() - 1);
   }
   /// True if `inner` is `outer` or below it.
   bool isWithin(uint32_t inner, uint32_t outer) const {
      while (inner != noScope && inner > outer)
         inner = scopeParents[inner];
      return inner == outer;
   }
   Rows narrow(const Rows& rows, Selection selection) {
      DCHECK(selection.count() <= rows.selection.count());
      if (selection.count() == rows.selection.count()) return rows;
      return {selection, newScope(rows.scope)};
   }
   Buffer& buffer(const Node& node);
};

/// A selection list, flag array or hash array, borrowed from the scratch until the Loan is destroyed. The scratch has
/// as many arrays as evaluations are nested.
template <typename T>
class Loan {
public:
   Loan(std::vector<T*>& free, ExpressionState::Scratch& s) : free_(free) {
      if (free.empty()) {
         data_ = s.permanent.allocateArray<T>(s.rowsMax);
      } else {
         data_ = free.back();
         free.pop_back();
      }
   }
   ~Loan() { free_.push_back(data_); }
   Loan(const Loan&) = delete;
   Loan& operator=(const Loan&) = delete;
   T* data() { return data_; }
   operator T*() { return data_; }

private:
   std::vector<T*>& free_;
   T* data_;
};
struct ListLoan : Loan<RowIndex> {
   explicit ListLoan(ExpressionState::Scratch& s) : Loan(s.freeLists, s) {}
};
struct FlagLoan : Loan<uint8_t> {
   explicit FlagLoan(ExpressionState::Scratch& s) : Loan(s.freeFlags, s) {}
};
struct HashLoan : Loan<uint64_t> {
   explicit HashLoan(ExpressionState::Scratch& s) : Loan(s.freeHashes, s) {}
};

// interpreter.cpp
Vector evaluateNode(ExpressionState::Scratch& s, uint32_t index, const Rows& rows);
Vector nullVector(PhysicalType type);
// predicate.cpp
/// The rows for which the boolean node is true, listed in `out` unless all rows pass (`out` may be the list that `rows`
/// refers to).
Selection filterNode(ExpressionState::Scratch& s, uint32_t index, const Rows& rows, RowIndex* out);
Vector evaluateConnective(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
// dictionary_results.cpp
/// Evaluates the node per entry of the dictionary of its only column. Nullopt: the column has no stored dictionary, or
/// that does not pay.
std::optional<Vector> evaluateByDictionary(ExpressionState::Scratch& s, uint32_t index, const Rows& rows);
// array_nodes.cpp
Vector evaluateArray(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
Vector evaluateSubscript(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
Vector evaluateAnyArray(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
// cast_nodes.cpp
Vector evaluateConvert(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
Vector evaluateTextCast(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
Vector evaluateTypmodCast(ExpressionState::Scratch& s, const Node& node, const Rows& rows);

} // namespace ouzel::executor
