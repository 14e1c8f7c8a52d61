/** What a shell reports for a command that a signal ended: 128 and the signal's number. */
export function signalExitCode(signal: unknown): number {
  switch (signal) {
    case 'SIGHUP':
      return 129;
    case 'SIGTERM':
      return 143;
    default:
      return 130;
  }
}
