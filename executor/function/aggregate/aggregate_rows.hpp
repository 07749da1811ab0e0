#pragma once
#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"

// Makes kernels of aggregates that get their rows in order and keep what they need of them. Include in .cpp files only.

namespace ouzel::executor {

/// Bytes that are appended one after the other, in pieces of an arena: what is there never moves, so that the arena
/// holds little more than these bytes. May be moved by copying the struct's bytes.
class Pieces {
public:
   /// Room for bytes that lie in one piece.
   char* extend(uint64_t bytes, Arena& arena) {
      if (!last_ || last_->capacity - last_->size < bytes) addPiece(bytes, arena);
      char* target = last_->bytes() + last_->size;
      last_->size += bytes;
      size_ += bytes;
      return target;
   }
   /// Appends text, which may be cut anywhere.
   void append(std::string_view text, Arena& arena) {
      while (!text.empty()) {
         if (!last_ || last_->capacity == last_->size) addPiece(1, arena);
         const auto part = text.substr(0, last_->capacity - last_->size);
         std::memcpy(extend(part.size(), arena), part.data(), part.size());
         text.remove_prefix(part.size());
      }
   }
   uint64_t size() const { return size_; }
   /// Calls take(bytes) for each piece in order.
   template <typename Take>
   void forEach(Take&& take) const {
      for (const Piece* piece = first_; piece; piece = piece->next)
         take(std::string_view(piece->bytes(), piece->size));
   }
   void copyTo(char* target) const {
      forEach([&](std::string_view piece) {
         std::memcpy(target, piece.data(), piece.size());
         target += piece.size();
      });
   }

private:
   struct alignas(16) Piece {
      Piece* next;
      uint64_t size, capacity;
      char* bytes() { return reinterpret_cast<char*>(this + 1); }
      const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
   };
   static constexpr uint64_t capacityMin = 64;
   static constexpr uint64_t capacityMax =
       (uint64_t{256} << 10) - 64; ///< four, with their heads, fill an arena's chunk

   /// Each piece has room for as many bytes as there are: few groups waste little, and so do many.
   void addPiece(uint64_t bytes, Arena& arena) {
      const uint64_t capacity = std::max(bytes, std::clamp(size_, capacityMin, capacityMax));
      auto* piece = static_cast<Piece*>(arena.allocate(sizeof(Piece) + capacity, alignof(Piece)));
      *piece = {nullptr, 0, capacity};
      (last_ ? last_->next : first_) = piece;
      last_ = piece;
   }

   Piece *first_ = nullptr, *last_ = nullptr;
   uint64_t size_ = 0;
};

/// A copy of one value at a time. The bytes of a long string take the place of those of the one before, of which it may
/// be a part. May be moved by copying the struct's bytes.
class KeptValue {
public:
   void keep(const Vector& vector, uint32_t row, Arena& arena) {
      const uint32_t width = physicalSize(vector.type);
      std::memcpy(value_, static_cast<const char*>(vector.data) + size_t{vector.positionOf(row)} * width, width);
      if (!isVariableSize(vector.type)) return;
      const StringView string = vector.value<StringView>(row);
      if (string.isInline()) return;
      if (string.size() > capacity_) {
         capacity_ = std::max<uint64_t>(string.size(), 2 * capacity_);
         bytes_ = static_cast<char*>(arena.allocate(capacity_, 1));
      }
      std::memmove(bytes_, string.data(), string.size());
      const StringView copy(bytes_, string.size());
      std::memcpy(value_, &copy, sizeof copy);
   }
   const std::byte* value() const { return value_; }
   StringView string() const {
      StringView view;
      std::memcpy(static_cast<void*>(&view), value_, sizeof view);
      return view;
   }

private:
   alignas(16) std::byte value_[16]{};
   char* bytes_ = nullptr;
   uint64_t capacity_ = 0;
};

/// Writes a kept value, or one that lies elsewhere, as the result of a row.
inline void putValue(PhysicalType type, const std::byte* value, uint32_t row, ResultVector& result) {
   if (isVariableSize(type)) {
      StringView view;
      std::memcpy(static_cast<void*>(&view), value, sizeof view);
      result.values<StringView>()[row] = result.strings().copyString(view.view());
      return;
   }
   switch (physicalSize(type)) {
   case 1: std::memcpy(result.values<uint8_t>() + row, value, 1); break;
   case 2: std::memcpy(result.values<int16_t>() + row, value, 2); break;
   case 4: std::memcpy(result.values<int32_t>() + row, value, 4); break;
   case 8: std::memcpy(result.values<int64_t>() + row, value, 8); break;
   default: std::memcpy(result.values<int128>() + row, value, 16); break;
   }
}

inline void combineNever(std::byte* const*, const std::byte* const*, uint32_t, Arena&) {
   throwInternal("an ordered aggregate cannot be combined");
}

/// Makes a kernel of a policy with static void add(State&, const AggregateInput&, uint32_t row), and perhaps expect()
/// with the same parameters.
template <typename P>
struct OrderedLoops {
   using State = typename P::State;
   static constexpr bool hasExpect = requires { &P::expect; };
   static void initialize(std::byte* state) { new (state) State(); }
   static void update(const AggregateInput& input, std::byte* const* states) {
      for (uint32_t i = 0; i < input.rows.count(); ++i)
         P::add(stateAt<State>(states[i]), input, input.rows.row(i));
   }
   static void expect(const AggregateInput& input, std::byte* const* states) {
      if constexpr (hasExpect)
         for (uint32_t i = 0; i < input.rows.count(); ++i)
            P::expect(stateAt<State>(states[i]), input, input.rows.row(i));
   }
   static void updateOne(const AggregateInput& input, std::byte* state) {
      forEachRow(input.rows, [&](uint32_t row) { P::add(stateAt<State>(state), input, row); });
   }
   static void finalize(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
      for (uint32_t i = 0; i < count; ++i)
         P::finish(stateAt<State>(states[i]), i, result);
   }
   static constexpr AggregateKernel kernel{sizeof(State), initialize, update, updateOne, combineNever,
                                           finalize,      true,       {},     nullptr,   hasExpect ? expect : nullptr};
};

template <typename P>
inline constexpr const AggregateKernel* orderedKernel = &OrderedLoops<P>::kernel;

} // namespace ouzel::executor
