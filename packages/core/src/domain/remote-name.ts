import { MeshError } from '../errors.js';
import { isDeviceName } from './device-name.js';
import { visibleText } from './visible-text.js';

const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){0,63}$/;

/**
 * What a remote may be called: a part of a ref's name in git and of a file's name on every system.
 * @throws MeshError `invalid_argument` naming the rule.
 */
export function parseRemoteName(text: string): string {
  if (pattern.test(text) && !/\.lock$/i.test(text) && !isDeviceName(text)) return text;
  throw new MeshError(
    'invalid_argument',
    `"${visibleText(text, { maxLength: 80 })}" is no name for a remote: expected 1 to 64 letters, digits, "-", "_" or ` +
      'single dots between them, beginning with a letter or digit, not ending in ".lock", and no device name of Windows (con, nul, com1…)',
  );
}

/** Refs and files of two remotes must not meet where letter case makes no difference. */
export function sameRemoteName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
