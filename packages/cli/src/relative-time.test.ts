import { describe, expect, it } from 'vitest';
import { relativeTime } from './relative-time.js';

const now = Date.parse('2026-12-02T05:00:00.000Z');
const ago = (seconds: number): string => relativeTime(new Date(now - seconds * 1000).toISOString(), now);

describe('a relative time', () => {
  it.each([
    [0, 'just now'],
    [45, '45 s ago'],
    [59.9, '59 s ago'],
    [60, '1 min ago'],
    [3 * 60 + 59, '3 min ago'],
    [7200, '2 h ago'],
    [86_400, '1 day ago'],
    [86_400 * 5, '5 days ago'],
    [-55 * 60, 'in 55 min'],
    [-3599, 'in 1 h'],
    [-3600, 'in 1 h'],
    [-59.4, 'in 59 s'],
    [-59.6, 'in 1 min'],
    [-(58 * 60 + 29), 'in 58 min'],
    [-5400, 'in 2 h'],
    [-86_390, 'in 1 day'],
    [-86_400 * 6.9, 'in 7 days'],
    [-1.9, 'in a moment'],
  ])('of %d s before now reads %s', (seconds, text) => {
    expect(ago(seconds)).toBe(text);
  });

  it('is a dash for what is unknown or unreadable', () => {
    expect([relativeTime(null, now), relativeTime('soon', now)]).toEqual(['—', '—']);
  });
});
