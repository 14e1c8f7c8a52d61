import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRemoteUrl } from './remote-url.js';

const cwd = resolve('/work/here');

describe('an ssh remote', () => {
  it.each([
    ['ssh://git@host/srv/x.git', 'git', 'host', null, '/srv/x.git'],
    ['ssh://host:2222/srv/x.git', null, 'host', 2222, '/srv/x.git'],
    ['ssh://host:/srv/x.git', null, 'host', null, '/srv/x.git'],
    ['SSH://host/~/x.git', null, 'host', null, '~/x.git'],
    ['ssh://bob@host/~ann/x.git', 'bob', 'host', null, '~ann/x.git'],
    ['ssh://git@[::1]:2222/x', 'git', '::1', 2222, '/x'],
    ['ssh://[fe80::1%25eth0]/x', null, 'fe80::1%eth0', null, '/x'],
    ['ssh://bob@corp@host/x', 'bob@corp', 'host', null, '/x'],
    ["ssh://host/a%20b/it's/é/%C3%A9", null, 'host', null, "/a b/it's/é/é"],
    ['git+ssh://host/x', null, 'host', null, '/x'],
    ['ssh+git://host/x', null, 'host', null, '/x'],
    ['host:x.git', null, 'host', null, 'x.git'],
    ['git@host:team/x.git', 'git', 'host', null, 'team/x.git'],
    ['host:/srv/a b%20c.git', null, 'host', null, '/srv/a b%20c.git'],
    ['host:~ann/x', null, 'host', null, '~ann/x'],
    ['my_alias.lan:./-x', null, 'my_alias.lan', null, './-x'],
    ['[::1]:x', null, '::1', null, 'x'],
    ['git@[2001:db8::7]:/srv/x', 'git', '2001:db8::7', null, '/srv/x'],
    ['git@[host:2222]:x', 'git', 'host', 2222, 'x'],
    ['host:a:b@c', null, 'host', null, 'a:b@c'],
  ])('is read from %s', (text, user, host, port, path) => {
    expect(parseRemoteUrl(text, { cwd })).toEqual({ kind: 'ssh', user, host, port, path, url: text });
  });

  it.each([
    ['ssh://-oProxyCommand=touch%20x/y', 'option'],
    ['ssh://%2doProxyCommand=x/y', 'option'],
    ['ssh://-x@host/y', 'option'],
    ['ssh://[-x]/y', 'option'],
    ['[-x]:y', 'option'],
    ['a@-x:y', 'option'],
    ['host:-y', 'option'],
    ['host:--upload-pack=touch x', 'option'],
    ['ssh://ho%20st/y', 'no host name'],
    ['ssh://`touch`/y', 'no host name'],
    ['ssh://a$(touch)@host/y', 'no user name'],
    ['host;touch:y', 'no host name'],
    ['ssh://@host/y', 'no user'],
    ['ssh:///y', 'no host'],
    ['ssh://host', 'no path'],
    ['host:', 'no path'],
    ['ssh://host:0/y', 'port'],
    ['ssh://host:65536/y', 'port'],
    ['ssh://host:x/y', 'port'],
    ['ssh://::1/y', 'port'],
    ['ssh://host/%', '%25'],
    ['ssh://host/%0ay', 'control'],
    ['ssh://host/%E2%80%AEy', 'control'],
    ['ssh://bob:hunter2@host/y', 'password'],
    ['bob:hunter2@host:y', 'password'],
  ])('is refused from %j, and it says why', (text, why) => {
    const parse = (): unknown => parseRemoteUrl(text, { cwd });
    expect(parse).toThrow(why);
    expect(parse).toThrow(expect.objectContaining({ errorName: 'invalid_argument' }));
    expect(parse).not.toThrow('hunter2');
  });
});
