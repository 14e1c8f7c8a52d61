import { describe, expect, it } from 'vitest';
import { refuseToStoreSecret } from './http-url.js';
import { parseRemoteUrl } from './remote-url.js';

const parse = (text: string): unknown => parseRemoteUrl(text, { cwd: '/' });

describe('an http remote', () => {
  it.each([
    'https://host/team/mesh.git',
    'http://127.0.0.1:8080/x/',
    'HTTPS://host/x',
    'https://bob:hunter2@host/x',
    'https://[::1]:8443/x%20y',
  ])('takes %s as it is', (url) => {
    expect(parse(url)).toEqual({ kind: 'http', url });
  });

  it.each([
    ['https://', 'no URL'],
    ['https://host:99999/x', 'no URL'],
    ['https://host/x?private_token=hunter2', '%3F'],
    ['https://host/x#y', '%23'],
    ['https://host/a%2Fb', 'encoded slash'],
    ['https://host/%zz', '%'],
    ['https://host/%0ax', 'control'],
    ['https://bo%0ab:hunter2@host/x', 'control'],
    ['https://host/\u202ex', 'invisible'],
  ])('refuses %j, and says why without its secrets', (url, why) => {
    expect(() => parse(url)).toThrow(why);
    expect(() => parse(url)).not.toThrow('hunter2');
  });

  it.each(['https://bob:hunter2@host/x', 'https://ghp_abc@host/x', `https://${'a1'.repeat(20)}@host/x`])(
    'is not stored with a secret: %s',
    (url) => {
      expect(() => {
        refuseToStoreSecret(url);
      }).toThrow('Give https://host/x instead');
      expect(() => {
        refuseToStoreSecret(url);
      }).not.toThrow(/hunter2|ghp_|a1a1/);
    },
  );

  it('is stored with the name of a user', () => {
    for (const url of [
      'https://bob@host/x',
      'https://host/x',
      `https://a.rather.long.name%40${'x'.repeat(20)}.org@host/x`,
    ]) {
      refuseToStoreSecret(url);
    }
  });
});
