/** A code with its beginning, or what is left of one that lost it: each body begins with `{"v":1,"url":"`, or is damaged. */
const code = /(?:(mesh\d{1,9}\.)eyJ|eyJ2IjoxLCJ1cmwiOi)[A-Za-z0-9_+/=-]*/gi;

/** A text in which no invitation can be read any more. */
export function withoutInviteCodes(text: string): string {
  return text.replace(code, (_all, begin: string | undefined) => `${begin ?? ''}***`);
}

/** The same for facts that travel as JSON. What holds no invitation comes back as it is. */
export function factsWithoutInviteCodes<T>(facts: T): T {
  const text = JSON.stringify(facts);
  const clean = withoutInviteCodes(text);
  // The same shape with other texts in it: no code holds a quote or a backslash.
  return clean === text ? facts : (JSON.parse(clean) as T);
}
