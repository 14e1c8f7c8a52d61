import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PartLoader } from './part-loader.js';

const nodeRequire = createRequire(import.meta.url);
let bundle: string;

beforeEach(() => {
  bundle = mkdtempSync(join(tmpdir(), 'git-mesh-parts-'));
});
afterEach(() => {
  rmSync(bundle, { recursive: true, force: true });
});

/** A loader of these parts; what it asks Node for is noted in `asked`. */
function loaderOf(parts: Record<string, string>, kept = new Map<string, Buffer>(), asked: string[] = []): PartLoader {
  for (const [name, text] of Object.entries(parts)) writeFileSync(join(bundle, name), text);
  const require = (id: string): unknown => {
    asked.push(id);
    return nodeRequire(id);
  };
  return new PartLoader({ bundle, require, codeOf: (name) => kept.get(name) });
}

describe('a part', () => {
  it('is loaded once, and may ask for one that asks for it', () => {
    const loader = loaderOf({
      'one.cjs': "exports.early = 1; exports.two = require('./two.cjs'); exports.path = [__filename, __dirname];",
      'two.cjs': "exports.seen = require('./one.cjs').early; exports.sep = require('node:path').sep.length;",
    });
    const one = join(bundle, 'one.cjs');
    expect(loader.load(one)).toEqual({ early: 1, two: { seen: 1, sep: 1 }, path: [one, bundle] });
    expect(loader.load(one)).toBe(loader.load(one));
  });

  it('runs with the code that was kept of it, and says in stacks where it stands', () => {
    const parts = {
      'one.cjs': 'exports.fail = () => new Error("x").stack;\nexports.later = () => new Error("y").stack;',
    };
    const place = join(bundle, 'one.cjs');
    const stacks = (loader: PartLoader): (string | undefined)[] => {
      const { fail, later } = loader.load(place) as { fail: () => string; later: () => string };
      return [fail(), later()].map((stack) => /\(?([^( ]*one\.cjs:\d+:\d+)/.exec(stack)?.[1]);
    };
    const first = loaderOf(parts);
    expect(stacks(first)).toEqual([`${place}:1:22`, `${place}:2:23`]);
    expect([first.missing, first.refused]).toEqual([1, 0]);
    const second = loaderOf(parts, first.compiledParts());
    expect(stacks(second)).toEqual([`${place}:1:22`, `${place}:2:23`]);
    expect([second.missing, second.refused]).toEqual([0, 0]);
  });

  it('is compiled where the engine refuses what was kept', () => {
    const first = loaderOf({ 'one.cjs': 'exports.a = 1;' });
    first.load(join(bundle, 'one.cjs'));
    const changed = loaderOf({ 'one.cjs': 'exports.a = 1 + 1;' }, first.compiledParts());
    expect(changed.load(join(bundle, 'one.cjs'))).toEqual({ a: 2 });
    expect(changed.refused).toBe(1);
  });

  it('gets child_process when it uses it', () => {
    const asked: string[] = [];
    const parts = { 'one.cjs': "const child = require('node:child_process'); exports.spawn = () => child.spawn;" };
    const one = loaderOf(parts, undefined, asked).load(join(bundle, 'one.cjs')) as { spawn: () => unknown };
    expect(asked).toEqual([]);
    expect(one.spawn()).toBe((nodeRequire('node:child_process') as { spawn: unknown }).spawn);
    expect(asked).toEqual(['node:child_process']);
  });
});
