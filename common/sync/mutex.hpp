#pragma once
/// Mutexes, locks and condition variables that clang's thread safety analysis understands: the standard's ones,
/// inlined, with the standard's names and annotations. scripts/check_clang.py fails when a member that is GUARDED_BY a
/// mutex is touched without it. Gcc compiles the annotations to nothing.
///
///     class Queue {
///        void push(Job job) EXCLUDES(mutex_);      // takes the mutex itself
///     private:
///        Job takeFirst() REQUIRES(mutex_);         // the caller holds it
///        Mutex mutex_;
///        std::deque<Job> jobs_ GUARDED_BY(mutex_);
///        CondVar changed_;
///     };
///     void Queue::push(Job job) {
///        const MutexLock lock(mutex_);
///        jobs_.push_back(std::move(job));
///     }
///
/// A predicate names what it needs: changed_.wait(lock, [&]() REQUIRES(mutex_) { return !jobs_.empty(); });
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define THREAD_ANNOTATION(attribute)
#endif

/// A type that can be held, and one that holds another from its constructor to its destructor.
#define CAPABILITY(name) THREAD_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY THREAD_ANNOTATION(scoped_lockable)
/// Marks a member, or the object that a pointer member points to, as accessible only while the mutex is held.
#define GUARDED_BY(mutex) THREAD_ANNOTATION(guarded_by(mutex))
#define PT_GUARDED_BY(mutex) THREAD_ANNOTATION(pt_guarded_by(mutex))
/// REQUIRES, EXCLUDES: the caller holds the mutex, or must not hold it. ACQUIRE, RELEASE: the function does it.
#define REQUIRES(...) THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
/// For facts that the analysis cannot see. A comment at each use gives the reason.
#define ASSERT_CAPABILITY(...) THREAD_ANNOTATION(assert_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS THREAD_ANNOTATION(no_thread_safety_analysis)

namespace ouzel {

class CAPABILITY("mutex") Mutex {
public:
   void lock() ACQUIRE() { mutex_.lock(); }
   void unlock() RELEASE() { mutex_.unlock(); }
   bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

   /// Tells the analysis that the mutex is held, and does nothing. For code that its author knows to run where the
   /// mutex is held or where no other thread can be.
   void assertHeld() const ASSERT_CAPABILITY() {}

private:
   friend class UniqueLock;
   std::mutex mutex_;
};

/// Holds a mutex as long as it lives.
class SCOPED_CAPABILITY [[nodiscard]] MutexLock {
public:
   explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
   /// Adopts a mutex that try_lock() has locked.
   MutexLock(Mutex& mutex, std::adopt_lock_t) REQUIRES(mutex) : mutex_(mutex) {}
   ~MutexLock() RELEASE() { mutex_.unlock(); }
   MutexLock(const MutexLock&) = delete;
   MutexLock& operator=(const MutexLock&) = delete;

private:
   Mutex& mutex_;
};

/// Holds a mutex as long as it lives; can unlock and lock it in between, and can wait on a CondVar.
class SCOPED_CAPABILITY [[nodiscard]] UniqueLock {
public:
   explicit UniqueLock(Mutex& mutex) ACQUIRE(mutex) : lock_(mutex.mutex_) {}
   ~UniqueLock() RELEASE() = default;
   UniqueLock(const UniqueLock&) = delete;
   UniqueLock& operator=(const UniqueLock&) = delete;

   void lock() ACQUIRE() { lock_.lock(); }
   void unlock() RELEASE() { lock_.unlock(); }
   bool owns_lock() const { return lock_.owns_lock(); }

private:
   friend class CondVar;
   std::unique_lock<std::mutex> lock_;
};

/// Unlocks a mutex that the caller holds, as long as it lives.
class SCOPED_CAPABILITY [[nodiscard]] MutexUnlock {
public:
   explicit MutexUnlock(Mutex& mutex) RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
   ~MutexUnlock() RELEASE() { mutex_.lock(); } // ends the scope: the analysis counts the mutex as held again
   MutexUnlock(const MutexUnlock&) = delete;
   MutexUnlock& operator=(const MutexUnlock&) = delete;

private:
   Mutex& mutex_;
};

/// A condition variable for UniqueLock. The mutex is held before and after a wait.
class CondVar {
public:
   void notify_one() { changed_.notify_one(); }
   void notify_all() { changed_.notify_all(); }

   void wait(UniqueLock& lock) { changed_.wait(lock.lock_); }

   template <typename Predicate>
   void wait(UniqueLock& lock, Predicate isOver) {
      changed_.wait(lock.lock_, std::move(isOver));
   }

   template <typename Rep, typename Period>
   std::cv_status wait_for(UniqueLock& lock, std::chrono::duration<Rep, Period> time) {
      return changed_.wait_for(lock.lock_, time);
   }

   /// Returns the predicate's last result: false when the time passed before it became true.
   template <typename Rep, typename Period, typename Predicate>
   bool wait_for(UniqueLock& lock, std::chrono::duration<Rep, Period> time, Predicate isOver) {
      return changed_.wait_for(lock.lock_, time, std::move(isOver));
   }

private:
   std::condition_variable changed_;
};

} // namespace ouzel
