import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Script } from 'node:vm';

/** As Node wraps a CommonJS module; on the module's own first line, so that stacks name the right place. */
const before = '(function (exports, require, module, __filename, __dirname) { ';
const after = '\n})';

type Require = (id: string) => unknown;
type Wrapped = (
  this: unknown,
  exports: unknown,
  require: Require,
  module: { exports: unknown },
  path: string,
  folder: string,
) => void;

export interface PartLoaderOptions {
  /** The bundle's folder. */
  bundle: string;
  /** For Node's own modules. */
  require: Require;
  /** The compiled code that was kept of a part. */
  codeOf: (name: string) => Buffer | undefined;
}

/** Asked for by what most commands load, used by few; Node takes milliseconds to load it. */
const rarelyUsed = new Set(['child_process', 'node:child_process']);

/** A module of Node's that is loaded when something of it is first used. */
function whenUsed(load: () => unknown): unknown {
  let loaded: object | undefined;
  const real = (): object => (loaded ??= load() as object);
  return new Proxy(
    {},
    {
      get: (_, key): unknown => Reflect.get(real(), key),
      has: (_, key) => Reflect.has(real(), key),
      ownKeys: () => Reflect.ownKeys(real()),
      getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(real(), key),
    },
  );
}

/** Loads the bundle's parts, each once, with the compiled code that was kept of them. */
export class PartLoader {
  readonly #options: PartLoaderOptions;
  readonly #loaded = new Map<string, { exports: unknown }>();
  readonly #builtins = new Map<string, unknown>();
  readonly #scripts = new Map<string, Script>();
  /** Parts that were loaded without kept code. */
  missing = 0;
  /** Parts whose kept code the engine would not take. */
  refused = 0;

  constructor(options: PartLoaderOptions) {
    this.#options = options;
  }

  load(path: string): unknown {
    const known = this.#loaded.get(path);
    if (known !== undefined) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    // Before it runs: parts may ask for each other.
    this.#loaded.set(path, module);
    const folder = dirname(path);
    const require: Require = (id) => (id.startsWith('.') ? this.load(join(folder, id)) : this.#builtin(id));
    const run = this.#compiled(path).runInThisContext() as Wrapped;
    run.call(module.exports, module.exports, require, module, path, folder);
    return module.exports;
  }

  /** What the engine has compiled of each part so far, what it was given included. */
  compiledParts(): Map<string, Buffer> {
    return new Map([...this.#scripts].map(([name, script]) => [name, script.createCachedData()]));
  }

  #builtin(id: string): unknown {
    let exports = this.#builtins.get(id);
    if (exports === undefined) {
      exports = rarelyUsed.has(id) ? whenUsed(() => this.#options.require(id)) : this.#options.require(id);
      this.#builtins.set(id, exports);
    }
    return exports;
  }

  #compiled(path: string): Script {
    const name = relative(this.#options.bundle, path).replaceAll('\\', '/');
    const cachedData = this.#options.codeOf(name);
    const script = new Script(`${before}${readFileSync(path, 'latin1')}${after}`, {
      filename: path,
      columnOffset: -before.length,
      ...(cachedData !== undefined && { cachedData }),
    });
    if (cachedData === undefined) this.missing += 1;
    else if (script.cachedDataRejected === true) this.refused += 1;
    this.#scripts.set(name, script);
    return script;
  }
}
