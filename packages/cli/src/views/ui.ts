import type { Render } from '../view.js';

/** The result of `ui`. */
export interface UiResult {
  url: string;
}

export const uiView: Render<UiResult> = ({ url }) => ({
  text: `Open ${url}\nWhoever has this address can read the mesh on this machine. Ctrl-C ends it.`,
  kind: 'answer',
});
