#include "executor/operator/sort/run_pages.hpp"

namespace ouzel::executor {

RunPages::RunPages(const SortRowLayout& layout, Reservation& memory) : keyWidth_(layout.key.width()), memory_(memory) {
   for (const Representation& column : layout.columns)
      types_.push_back(column.physical);
}

RunPages::~RunPages() {
   runs_.clear();
   memory_.shrink(aheadBytes_);
}

void RunPages::addRun(const SpilledRun& run, io::SpillSpace& space, size_t aheadBytes) {
   // Others may have taken the memory meanwhile. Without any, the reader asks for one page at a time.
   while (aheadBytes > 0 && !memory_.tryGrow(aheadBytes))
      aheadBytes /= 2;
   aheadBytes_ += aheadBytes;
   auto added = std::make_unique<Run>();
   added->run = &run;
   {
      const MutexLock lock(added->mutex);
      added->reader = std::make_unique<io::SpillReader>(space, aheadBytes);
      added->pages.resize(run.pages.size());
      added->users.assign(run.pages.size(), 0);
   }
   runs_.push_back(std::move(added));
}

void RunPages::use(uint32_t run, size_t from, size_t end) {
   const MutexLock lock(runs_[run]->mutex);
   DCHECK(end <= runs_[run]->users.size());
   for (size_t page = from; page < end; ++page)
      ++runs_[run]->users[page];
}

void RunPages::start() {
   for (const auto& run : runs_) {
      const MutexLock lock(run->mutex);
      for (size_t page = 0; page < run->users.size(); ++page)
         if (run->users[page] > 0) addToReader(*run->reader, run->run->pages[page], true);
      run->reader->start();
   }
}

std::unique_ptr<RunPages::Page> RunPages::emptyPage() {
   {
      const MutexLock lock(mutex_);
      if (!free_.empty()) {
         auto page = std::move(free_.back());
         free_.pop_back();
         return page;
      }
   }
   return std::make_unique<Page>(Page{ColumnPage(types_, keyWidth_, memory_), {}});
}

void RunPages::load(Run& run, size_t number) {
   auto page = emptyPage();
   page->rows.load(*run.reader, run.run->pages[number]);
   ColumnPiece& piece = page->piece;
   piece.keys = page->rows.key(0);
   piece.keyStride = keyWidth_;
   piece.values.clear();
   piece.validity.clear();
   for (size_t i = 0; i < types_.size(); ++i) {
      piece.values.push_back(page->rows.values(i));
      piece.validity.push_back(page->rows.validity(i));
   }
   run.pages[number] = std::move(page);
}

const RunPages::Page& RunPages::acquire(uint32_t number, size_t page) {
   Run& run = *runs_[number];
   const MutexLock lock(run.mutex);
   DCHECK(run.users[page] > 0);
   for (; run.next <= page; ++run.next)
      if (run.users[run.next] > 0) load(run, run.next);
   DCHECK(run.pages[page] != nullptr);
   return *run.pages[page];
}

void RunPages::release(uint32_t number, size_t page) {
   std::unique_ptr<Page> unused;
   {
      Run& run = *runs_[number];
      const MutexLock lock(run.mutex);
      DCHECK(run.users[page] > 0);
      if (--run.users[page] > 0) return;
      unused = std::move(run.pages[page]);
   }
   const MutexLock lock(mutex_);
   free_.push_back(std::move(unused));
}

} // namespace ouzel::executor
