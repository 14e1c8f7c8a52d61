import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { absoluteRemote } from './remote-location.js';

describe('a remote as typed', () => {
  it.each([
    'https://host/x.git',
    'file:///srv/x.git',
    'ssh://host/x',
    'host:path',
    'me@host:dir/x.git',
    'ext::sh -c x',
    '',
    '-x',
    'C:\\mesh.git',
    'h:x',
  ])('is left alone when it names more than a path: %j', (typed) => {
    expect(absoluteRemote(typed, '/work')).toBe(typed);
  });
  it.each(['hub.git', '../hub.git', './a:b.git', './-x', '/srv/hub.git'])(
    'is made absolute when it is a path: %j',
    (typed) => {
      expect(absoluteRemote(typed, '/work')).toBe(resolve('/work', typed));
    },
  );
});
