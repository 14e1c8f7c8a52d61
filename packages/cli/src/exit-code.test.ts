import type { ErrorName } from '@git-mesh/core';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from './exit-code.js';

// Loaded as the program loads it: never with the program itself.
const { errorCodes } = await import('@git-mesh/core');

const byStatus: Record<number, number> = { 400: 2, 413: 2, 404: 3, 403: 4, 409: 4, 423: 5, 503: 5 };

describe('exit codes', () => {
  it('follow the code of the error, with 10 for a mesh that is not there', () => {
    for (const [name, status] of Object.entries(errorCodes) as [ErrorName, number][]) {
      expect([name, exitCodeOf(name)]).toEqual([name, name === 'no_mesh' ? 10 : byStatus[status]]);
    }
  });
});
