import type { TextContext } from '../mesh-tool.js';

/**
 * What somebody else wrote, in quotation marks that it cannot close: JSON's escapes, and visible ones for what a
 * terminal would act on. Longer than `maxLength` characters it is cut and followed by `…`.
 */
export function quoted(text: string, context: TextContext, maxLength = 200): string {
  // Bounded before it is split: hostile text may be megabytes long. A character is at most two code units.
  const characters = Array.from(text.slice(0, 2 * maxLength + 2));
  const cut = characters.length > maxLength;
  const kept = cut ? characters.slice(0, maxLength).join('') : text;
  return `${context.visible(JSON.stringify(kept))}${cut ? '…' : ''}`;
}

/** A payload as one line of JSON, whole. */
export function payloadText(payload: object, context: TextContext): string {
  return context.visible(JSON.stringify(payload));
}

/** Our own text, which may hold pieces of others': one line, so that no piece can act, hide or begin a line of its own. */
export function ownText(text: string, context: TextContext): string {
  return context.visible(text, 2000);
}
