import type { SetupFunctions } from '../mesh-setup.js';
import { laptop, meshOf } from './samples.js';

/** Makes or joins nothing, and answers as if. `asked` collects with what it was called. */
export function stubSetup(asked: unknown[] = []): () => Promise<SetupFunctions> {
  const made = (options: object): ReturnType<SetupFunctions['initMesh']> => {
    asked.push(options);
    return Promise.resolve({ mesh: meshOf, machine: laptop, store: '/s', remotes: [], writable: true });
  };
  return () =>
    Promise.resolve({ initMesh: made, joinMesh: made, redactUrl: (url) => url.replace(/\/\/[^@]*@/, '//***@') });
}
