import { createHash, timingSafeEqual } from 'node:crypto';

/** In a time that tells nothing of where they differ, nor of their lengths. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
