/** A text as JSON, whatever it is: no character of it acts or hides. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
