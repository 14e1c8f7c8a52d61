import type { Style } from './style.js';

/** What people read instead of the result's JSON. */
export interface View {
  /** Lines without a newline at the end; may be empty. */
  text: string;
  /** `confirmation`: says that an act was done, and is left out with `--quiet`. */
  kind: 'answer' | 'confirmation';
  /** One line each, for stderr; left out with `--quiet`. */
  warnings?: string[];
}

export interface ViewContext {
  style: Style;
  nowMs: number;
  /** The terminal's width; undefined when stdout is none. */
  columns: number | undefined;
  /** One safe line of at most `maxLength` characters from text that anyone may have written. */
  visible: (text: string, maxLength?: number) => string;
  /** The same for a text of ours, whose pieces of others are bounded: never cut, since it may name a command to be run. */
  own: (text: string) => string;
}

export type Render<T> = (result: T, context: ViewContext) => View;
