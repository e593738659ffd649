// Ctrl-C while a job is followed. Process-wide; usable from any thread.
#ifndef WEIR_CLIENT_CLI_SIGNALS_H_
#define WEIR_CLIENT_CLI_SIGNALS_H_

namespace weir::cli {

// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the process as usual.
void CatchInterrupts();
bool Interrupted();
// Waits for SIGINT or SIGTERM. REQUIRES: called on the main thread before other threads start to
// handle signals.
void WaitForInterrupt();

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_SIGNALS_H_
