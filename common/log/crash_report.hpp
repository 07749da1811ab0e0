#pragma once

namespace ouzel {

/// Report on stderr, which is the log's text file if there are files, when a signal kills the process because of an
/// error of the program (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT): which signal, the statement of the thread that
/// caused it, unless it may hold a password, and the thread's calls. Then the signal does what it would have done.
/// Does nothing in builds with sanitizers, which report crashes on their own. REQUIRES: called once, by main().
void installCrashReport();

/// Give the calling thread a stack of its own for the report, so that it is written also when the thread's stack has
/// overflowed. Costs nothing after a thread's first call.
void prepareThreadForCrash();

} // namespace ouzel
