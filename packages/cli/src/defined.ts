type MayBeMissing<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
type Certain<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** The object without the fields that were not given: the use cases tell "left out" from any value. */
export function defined<T extends object>(fields: T): Certain<T> & MayBeMissing<T> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  // Only keys whose value is undefined were dropped, which is exactly what the type says.
  return given as Certain<T> & MayBeMissing<T>;
}
