/** Something in the demo was not as it should be. */
export class DemoFailure extends Error {
  override readonly name = 'DemoFailure';
}

/** @throws DemoFailure unless `condition` holds; `got` is shown. */
export function expectThat(condition: boolean, what: string, got: unknown): asserts condition {
  if (!condition) throw new DemoFailure(`expected ${what}, got ${shown(got)}`);
}

export function shown(value: unknown): string {
  const text = value instanceof Error ? value.message : value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
