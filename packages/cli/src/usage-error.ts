/** The command line itself is wrong: reported like an `invalid_argument`, without loading any of the mesh's code. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
