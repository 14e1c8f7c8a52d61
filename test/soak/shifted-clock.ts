import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before a program (node --import): its clock is off by SOAK_SKEW_MS, and so are the times of files as it sees
// and sets them. A machine whose clock is wrong stamps its files with the same wrong clock.

const skewMs = Number(process.env['SOAK_SKEW_MS']);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...args: [] | [value: number | string | Date]) {
    if (args.length === 0) super(RealDate.now() + skewMs);
    // All the ways of naming a time are passed on as they are.
    else super(...args);
  }

  static override now(): number {
    return RealDate.now() + skewMs;
  }
}

const statTimes = ['atime', 'mtime', 'ctime', 'birthtime'] as const;

function shifted<T>(stats: T): T {
  if (!(stats instanceof fs.Stats)) return stats;
  for (const name of statTimes) {
    stats[`${name}Ms`] += skewMs;
    Object.defineProperty(stats, name, {
      value: new RealDate(Math.round(stats[`${name}Ms`])),
      enumerable: true,
      writable: true,
    });
  }
  return stats;
}

const unshifted = (time: unknown): unknown =>
  time instanceof RealDate
    ? new RealDate(time.getTime() - skewMs)
    : typeof time === 'number'
      ? time - skewMs / 1000
      : time;

type Method = (...args: unknown[]) => unknown;

function replace(target: object, name: string, wrap: (real: Method) => Method): void {
  const methods = target as Record<string, Method | undefined>;
  const real = methods[name];
  if (real === undefined) throw new Error(`node:fs has no ${name} any more`);
  methods[name] = wrap(real);
}

for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
  replace(
    fs,
    name,
    (real) =>
      (...args) =>
        shifted(real(...args)),
  );
}
for (const name of ['stat', 'lstat', 'fstat']) {
  replace(fs, name, (real) => (...args) => {
    const done = args.pop() as Method;
    return real(...args, (error: unknown, stats: unknown) => done(error, shifted(stats)));
  });
}
for (const name of ['stat', 'lstat']) {
  replace(
    fs.promises,
    name,
    (real) =>
      async (...args) =>
        shifted(await real(...args)),
  );
}
const probe = await fs.promises.open(process.execPath, 'r');
replace(Object.getPrototypeOf(probe) as object, 'stat', (real) => {
  return async function (this: unknown, ...args) {
    return shifted(await real.apply(this, args));
  };
});
await probe.close();
for (const target of [fs, fs.promises]) {
  for (const name of target === fs ? ['utimes', 'utimesSync', 'futimes', 'futimesSync'] : ['utimes', 'lutimes']) {
    replace(target, name, (real) => (path, accessed, modified, ...rest) => {
      return real(path, unshifted(accessed), unshifted(modified), ...rest);
    });
  }
}
globalThis.Date = ShiftedDate as DateConstructor;
syncBuiltinESMExports();
