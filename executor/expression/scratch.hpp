#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/memory/arena.hpp"
#include "executor/expression/node.hpp"

// What one worker keeps while it evaluates a program. Included only within expression/.

namespace ouzel::executor {

/// Rows an expression is wanted for. Scopes nest: a scope's rows are a subset of its parent's, so that a value kept
/// for a scope serves all scopes below it.
struct Rows {
   Selection selection;
   uint32_t scope = 0;
};

/// Results of a total expression for every entry of a stored dictionary.
struct DictionaryResult {
   uint64_t dictionaryId = 0;
   uint32_t size = 0;
   uint32_t capacity = 0;
   void* data = nullptr;
   ValidityWord* validity = nullptr;
   bool hasNulls = false;
   std::unique_ptr<Arena> strings;
};

/// Measured behaviour of the terms of an AND, and the order they run in.
struct ConjunctOrder {
   struct Term {
      uint32_t arg; ///< index into the node's args
      uint64_t rowsIn = 0, rowsOut = 0, cycles = 0;
   };
   std::vector<Term> terms;
   uint32_t batches = 0;
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

   Scratch(std::shared_ptr<const ExpressionProgram> p, FunctionContext& c, Reservation* reservation);

   // PROPERTIES
   std::shared_ptr<const ExpressionProgram> program;
   const ExpressionProgram::Code& code;
   FunctionContext& context;
   Reservation* memory;

   // STATE kept between batches
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
   Arena* strings = &batchStrings;           ///< where result strings go
   const Vector* dictionaryValues = nullptr; ///< set while a dictionary is evaluated: stands for the slot's column
   std::vector<uint32_t> scopeParents;

   void beginBatch(const Batch& b);
   uint32_t newScope(uint32_t parent) {
      DCHECK(parent == noScope || parent < scopeParents.size());
      scopeParents.push_back(parent);
      return static_cast<uint32_t>(scopeParents.size() - 1);
   }
   /// True if the rows of `inner` are among those of `outer`.
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

/// A selection list, flag array or hash array on loan from the scratch: as many as evaluation nests deep.
template <typename T>
class Loan {
public:
   Loan(std::vector<T*>& free, Arena& arena) : free_(free) {
      if (free.empty()) {
         data_ = arena.allocateArray<T>(batchRowsMax);
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
   explicit ListLoan(ExpressionState::Scratch& s) : Loan(s.freeLists, s.permanent) {}
};
struct FlagLoan : Loan<uint8_t> {
   explicit FlagLoan(ExpressionState::Scratch& s) : Loan(s.freeFlags, s.permanent) {}
};
struct HashLoan : Loan<uint64_t> {
   explicit HashLoan(ExpressionState::Scratch& s) : Loan(s.freeHashes, s.permanent) {}
};

// interpreter.cpp
Vector evaluateNode(ExpressionState::Scratch& s, uint32_t index, const Rows& rows);
Vector nullVector(PhysicalType type);
// predicate.cpp
/// Rows for which the boolean node is true, into `out` unless all pass (`out` may be the list that `rows` reads).
Selection filterNode(ExpressionState::Scratch& s, uint32_t index, const Rows& rows, RowIndex* out);
Vector evaluateConnective(ExpressionState::Scratch& s, const Node& node, const Rows& rows);
// dictionary_results.cpp
/// Value via the stored dictionary of the node's only column; nothing if that does not pay or there is none.
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
