import type { ViewContext } from '../view.js';

/** A message that may quote what others wrote (a remote's answer, a branch's file) as one safe line. */
export function oneLine(text: string, { own }: ViewContext): string {
  return own(text);
}
