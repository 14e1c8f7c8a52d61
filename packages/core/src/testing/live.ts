/** What `current` gives at the time of each use, under one name. */
export function live<T extends object>(current: () => T): T {
  // Every access goes to the real object: nothing of this one is ever seen.
  return new Proxy({} as T, {
    get(_, name) {
      const target = current();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(current(), name, value),
  });
}
