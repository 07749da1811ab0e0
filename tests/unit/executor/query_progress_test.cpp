#include "executor/schedule/query_progress.hpp"

#include <catch2/catch.hpp>

namespace ouzel::executor {

namespace {

constexpr uint32_t join = 1, filtered = 2;

QueryProgress::Stage stageOf(const std::string& source, double rows, std::vector<QueryProgress::Work> works) {
   return {source, rows, std::move(works)};
}

/// A pipeline that builds a join's table from 100 rows, and one that probes it.
void addJoin(QueryProgress& progress) {
   CATCH_CHECK(progress.add({stageOf("build", 100, {{10, QueryProgress::noNode}})}, {join, 100, 0}) == 0);
   CATCH_CHECK(progress.add({stageOf("probe", 1000, {{20, QueryProgress::noNode}, {70, join}})}, {}) == 1);
}

} // namespace

CATCH_TEST_CASE("query progress: shares are those of the source, as it says or by its rows") {
   QueryProgress progress;
   addJoin(progress);
   CATCH_CHECK(progress.view().secondsLeft < 0);
   progress.begin(0);
   progress.note(0.25, 20, 20);
   CATCH_CHECK(progress.view().pipelines[0].share == Approx(0.25));
   CATCH_CHECK(progress.view().pipelines[0].state == QueryProgress::State::Running);
   progress.note(-1, 30, 30); // 50 of 100 rows
   CATCH_CHECK(progress.view().pipelines[0].share == Approx(0.5));
   progress.note(0.1, 0, 0); // of a worker that asked earlier: shares do not go back
   CATCH_CHECK(progress.view().pipelines[0].share == Approx(0.5));
   progress.note(-1, 1000, 0); // more than expected: the end is not behind
   CATCH_CHECK(progress.view().pipelines[0].share < 1);
   progress.end();
   const QueryProgress::View view = progress.view();
   CATCH_CHECK(view.pipelines[0].share == 1);
   CATCH_CHECK(view.pipelines[0].rows == 1050);
   CATCH_CHECK(view.pipelines[1].state == QueryProgress::State::Waiting);
   CATCH_CHECK(view.secondsLeft >= 0);
}

CATCH_TEST_CASE("query progress: time to come follows costs, and rows that came") {
   const auto shareAfterBuild = [](uint64_t rows) {
      QueryProgress progress;
      addJoin(progress);
      progress.begin(0);
      progress.note(1, rows, rows);
      progress.end();
      return progress.view().share;
   };
   CATCH_CHECK(shareAfterBuild(100) == Approx(10.0 / 100).epsilon(0.01));
   // A tenth of the rows: probing costs a tenth, and filters drop rows of the scan.
   CATCH_CHECK(shareAfterBuild(10) == Approx(10.0 / (10 + 2 + 7)).epsilon(0.01));
   CATCH_CHECK(shareAfterBuild(200) == Approx(10.0 / (10 + 20 + 140)).epsilon(0.01));
}

CATCH_TEST_CASE("query progress: a sink's work after the last row") {
   QueryProgress progress;
   progress.add({stageOf("scan", 10, {{1, QueryProgress::noNode}})}, {filtered, 10, 0.5});
   progress.begin(0);
   progress.note(1, 10, 10);
   CATCH_CHECK(progress.view().pipelines[0].share == Approx(0.5));
   progress.noteFinishing(3, 4);
   CATCH_CHECK(progress.view().pipelines[0].state == QueryProgress::State::Finishing);
   CATCH_CHECK(progress.view().pipelines[0].share >= 0.875);
   CATCH_CHECK(progress.view().pipelines[0].share < 1);
}

CATCH_TEST_CASE("query progress: stages follow each other, and the list knows who runs") {
   const auto progress = std::make_shared<QueryProgress>();
   progress->add({stageOf("a", 10, {{1, QueryProgress::noNode}}), stageOf("b", 10, {{3, QueryProgress::noNode}})}, {});
   progress->begin(0);
   progress->note(1, 10, 10);
   progress->beginStage(1);
   CATCH_CHECK(progress->view().pipelines[0].share == Approx(0.25));
   progress->note(0.5, 5, 5);
   CATCH_CHECK(progress->view().pipelines[0].share == Approx(0.625));

   QueryProgressList list;
   list.add(7, progress);
   CATCH_REQUIRE(list.list().size() == 1);
   CATCH_CHECK(list.list()[0].processId == 7);
   list.remove(progress.get());
   CATCH_CHECK(list.list().empty());
}

} // namespace ouzel::executor
