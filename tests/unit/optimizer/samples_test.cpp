#include "optimizer/cardinality/samples.hpp"

#include <catch2/catch.hpp>

#include "common/json/jsonb_writer.hpp"
#include "common/number/decimal.hpp"

using namespace ouzel;
using namespace ouzel::optimizer;

namespace {

/// 1,000 documents; one in twenty has {"q": 0.01, 0.02, ...}, the others {"z": null}.
struct Sample {
   Sample() {
      for (int64_t i = 0; i < 1000; ++i) {
         json::JsonbWriter writer;
         writer.beginObject();
         writer.key(i % 20 == 0 ? "q" : "z");
         if (i % 20 == 0)
            writer.number(decimal::fromInt64(i / 20 + 1, 2));
         else
            writer.null();
         writer.endObject();
         bytes.push_back(writer.finish());
      }
      views = std::vector<StringView>(bytes.begin(), bytes.end());
      batch.columns.push_back(Vector::flat(PhysicalType::String, views.data(), nullptr));
      batch.setDense(1000);
   }
   std::vector<std::string> bytes;
   std::vector<StringView> views;
   Batch batch;
};

} // namespace

CATCH_TEST_CASE("bounds of scaled numbers at a path are in units") {
   const Sample sample;
   sql::GetPath path;
   path.attribute = 1;
   path.access = {{"q"}, json::PathForm::Value, json::PathTarget::Numeric, true, 2};
   path.smallest = 1;
   path.largest = 50;
   path.present = 50'000;
   const ColumnEstimate estimate = pathEstimate(sample.batch, path, 1e6, false);
   CATCH_CHECK(estimate.isKnown);
   CATCH_CHECK(estimate.hasBounds);
   CATCH_CHECK(estimate.min == Approx(0.01));
   CATCH_CHECK(estimate.max == Approx(0.5));
   CATCH_CHECK(estimate.distinct <= 50);
   CATCH_CHECK(estimate.nullFraction == Approx(0.95));
}

CATCH_TEST_CASE("all of a sample is searched for a rare path that a predicate filters") {
   const Sample sample;
   sql::GetPath path;
   path.attribute = 1;
   path.access = {{"q"}, json::PathForm::Text};
   path.present = 50'000;
   // 256 rows of the sample have 13 values, too few to tell how many differ; 1,000 have 50, which all differ.
   CATCH_CHECK(pathEstimate(sample.batch, path, 1e6, false).distinct == Approx(50'000));
   const double all = pathEstimate(sample.batch, path, 1e6, true).distinct;
   CATCH_CHECK(all > 1000);
   path.present = -1;
   CATCH_CHECK(pathEstimate(sample.batch, path, 1e6, true).nullFraction == Approx(0.95).epsilon(0.02));
}
