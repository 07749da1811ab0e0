#include "common/type/enum_labels.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "common/error/sql_error.hpp"

using namespace ouzel;

namespace {

/// Adds a label before labels[position], as ALTER TYPE does.
void addAt(std::vector<EnumLabel>& labels, size_t position) {
   EnumLabel added;
   added.oid = static_cast<Oid>(labels.size() + 1);
   added.name = std::to_string(added.oid);
   added.code = EnumLabels::codeBetween(position > 0 ? &labels[position - 1] : nullptr,
                                        position < labels.size() ? &labels[position] : nullptr);
   labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(position), added);
}

void requireSound(const std::vector<EnumLabel>& inOrder) {
   const EnumLabels labels(inOrder);
   for (size_t i = 0; i < inOrder.size(); ++i) {
      CATCH_REQUIRE((i == 0 || inOrder[i - 1].code < inOrder[i].code));
      CATCH_REQUIRE(labels.find(inOrder[i].code) == &labels.inOrder()[i]);
      CATCH_REQUIRE(labels.find(inOrder[i].name) == &labels.inOrder()[i]);
   }
}

} // namespace

CATCH_TEST_CASE("labels keep their codes, and codes the order of the labels") {
   const unsigned seed = std::random_device()();
   CATCH_INFO("seed " << seed);
   std::mt19937 random(seed);
   for (int round = 0; round < 50; ++round) {
      std::vector<EnumLabel> labels;
      for (int i = 0; i < 60; ++i)
         addAt(labels, random() % (labels.size() + 1));
      requireSound(labels);
   }
}

CATCH_TEST_CASE("many labels come to the same place of an enum") {
   const auto grow = [](size_t count, auto&& place) {
      std::vector<EnumLabel> labels;
      addAt(labels, 0);
      addAt(labels, 1);
      for (size_t i = 0; i < count; ++i)
         addAt(labels, place(labels));
      requireSound(labels);
   };
   grow(90, [](const auto& labels) { return labels.size() - 1; }); // before the last
   grow(90, [](const auto&) { return size_t{1}; });                // after the first
   grow(20, [](const auto& labels) { return labels.size() / 2; }); // now before, now after the one that came last
   grow(5000, [](const auto& labels) { return labels.size(); });
   grow(5000, [](const auto&) { return size_t{0}; });
   CATCH_REQUIRE_THROWS_AS(grow(200, [](const auto&) { return size_t{1}; }), SqlError);
}

CATCH_TEST_CASE("an enum finds no label that it has not") {
   std::vector<EnumLabel> inOrder;
   addAt(inOrder, 0);
   const EnumLabels labels(inOrder);
   CATCH_REQUIRE(labels.find("") == nullptr);
   for (const int64_t code : {int64_t{1}, int64_t{-1}, EnumLabels::gap, -EnumLabels::gap, INT64_MAX, INT64_MIN})
      CATCH_REQUIRE(labels.find(code) == nullptr);
   CATCH_REQUIRE_THROWS_AS(labels.require(1), SqlError);
   CATCH_REQUIRE(EnumLabels({}).find(int64_t{0}) == nullptr);
}
