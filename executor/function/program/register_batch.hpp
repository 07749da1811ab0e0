#pragma once
#include <memory>

#include "common/value/vector.hpp"
#include "executor/function/program/register_code.hpp"

namespace ouzel::executor {

/// Runs code over many rows at a time: each instruction for all rows that are there, in loops over arrays. Where rows
/// take different ways, those that are behind go first, so that ways that meet again are gone together; a few rows that
/// are alone go on one by one. One run at a time.
class RegisterBatch {
public:
   static constexpr uint32_t rowsMax = 256; ///< their registers fit in the first cache

   explicit RegisterBatch(const RegisterCode& code);
   ~RegisterBatch();

   /// The registers of input `number`, one for each row.
   int64_t* values(uint32_t number) { return values_[number].get(); }
   uint8_t* nulls(uint32_t number) { return nulls_[number].get(); }
   /// Runs the first `rows` rows, whose inputs are filled in.
   void run(uint32_t rows);
   // The results of a run.
   const int64_t* results() const { return results_; }
   const uint8_t* resultNulls() const { return resultNulls_; }

private:
   /// Rows that stand before the same instruction.
   struct Group {
      uint32_t at = 0;
      uint32_t count = 0;
      std::unique_ptr<uint16_t[]> rows;
   };
   using Instruction = RegisterCode::Instruction;

   std::unique_ptr<Group> takeGroup();
   void put(std::unique_ptr<Group> group);
   /// Runs the group until it ends or meets others.
   void run(std::unique_ptr<Group> group);
   void runAlone(const Group& group);
   void jump(std::unique_ptr<Group>& group, const Instruction& step);
   void compute(const Group& group, const Instruction& step);
   template <typename Rows>
   bool computeFast(Rows rows, const Instruction& step);
   template <typename Use>
   void withTest(const Instruction& step, Use use);
   template <typename Rows>
   void advance(Rows rows, const Instruction& step);

   const RegisterCode& code_;
   std::unique_ptr<int64_t[]> values_[RegisterCode::registersMax];
   std::unique_ptr<uint8_t[]> nulls_[RegisterCode::registersMax];
   bool mayBeNull_[RegisterCode::registersMax] = {};
   int64_t results_[rowsMax];
   uint8_t resultNulls_[rowsMax];
   std::vector<std::unique_ptr<Group>> waiting_; ///< by descending `at`
   std::vector<std::unique_ptr<Group>> free_;
   uint32_t rowCount_ = 0, steps_ = 0;
};

} // namespace ouzel::executor
