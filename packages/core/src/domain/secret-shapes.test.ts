import { describe, expect, it } from 'vitest';
import { secretIn } from './secret-scan.js';
import { secretShapes } from './secret-shapes.js';

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const hex = '0123456789abcdef';

/** Made here and not written out: a token in a file would be found by every scanner that reads this repository. */
function body(length: number, alphabet = alphanumeric): string {
  let state = 7;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length] ?? '';
  }).join('');
}

const pem = (kind: string): string => `-----BEGIN ${kind}-----\n${body(64)}\n${body(64)}\n-----END ${kind}-----\n`;
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJ${body(20)}.${body(43)}`;

const secrets: readonly (readonly [rule: string, text: string])[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((head) => ['github-token', head + body(36)] as const),
  ['github-token', `ghs_${body(400)}`],
  ['github-token', `github_pat_${body(22)}_${body(59)}`],
  ['gitlab-token', `glpat-${body(20)}`],
  ['gitlab-token', `glrt-${body(20)}`],
  ['aws-access-key', `AKIA${body(16, upper)}`],
  ['aws-access-key', `ASIA${body(16, upper)}`],
  ['aws-secret-key', `aws_secret_access_key = ${body(40)}`],
  ['aws-secret-key', `{"SecretAccessKey": "${body(40)}"}`],
  ['google-api-key', `AIza${body(35)}`],
  ['google-oauth-secret', `GOCSPX-${body(28)}`],
  ['google-oauth-token', `ya29.${body(120)}`],
  ['slack-token', `xoxb-${body(12, '0123456789')}-${body(12, '0123456789')}-${body(24)}`],
  ['slack-webhook', `https://hooks.slack.com/services/T${body(9, upper)}/B${body(9, upper)}/${body(24)}`],
  ['stripe-key', `sk_live_${body(24)}`],
  ['stripe-key', `rk_test_${body(24)}`],
  ['npm-token', `npm_${body(36)}`],
  ['npm-token', `//registry.example.org/:_authToken=npm_${body(36)}`],
  ['pypi-token', `pypi-AgEIcHlwaS5vcmc${body(150)}`],
  ['openai-key', `sk-proj-${body(74)}T3BlbkFJ${body(74)}`],
  ['openai-key', `sk-${body(20)}T3BlbkFJ${body(20)}`],
  ['anthropic-key', `sk-ant-api03-${body(93)}AA`],
  ['huggingface-token', `hf_${body(34)}`],
  ['sendgrid-key', `SG.${body(22)}.${body(43)}`],
  ['shopify-token', `shpat_${body(32, hex)}`],
  ['vault-token', `hvs.${body(24)}`],
  ['jwt', jwt],
  ['invite-code', `mesh1.eyJ2Ijox${body(400)}`],
  ['invite-code', `join with mesh1.eyJ2Ijox${body(60)}\n${body(60)}`],
  ['private-key', pem('RSA PRIVATE KEY')],
  ['private-key', pem('OPENSSH PRIVATE KEY')],
  ['private-key', pem('PRIVATE KEY')],
  ['private-key', pem('PGP PRIVATE KEY BLOCK')],
  ['private-key', JSON.stringify(pem('EC PRIVATE KEY'))],
  ['azure-storage-key', `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${body(86)}==;`],
  ['azure-signature', `https://x.blob.core.windows.net/c?sv=2024-01-01&sig=${body(43)}%3D`],
  ['authorization-header', `curl -H 'Authorization: Bearer ${body(30)}' https://example.org`],
  ['url-password', 'https://builder:hunter2@git.example.org/team.git'],
  ['url-password', 'postgres://app:Tr0ub4dor%263@db:5432/shop'],
  ['url-password', 'redis://:s3cr3t@cache:6379'],
];

/** What agents write all day, and what stands for a credential in documentation. */
const harmless: readonly string[] = [
  `ghp_${'x'.repeat(36)}`,
  `ghp_${'X'.repeat(36)}`,
  'ghp_…',
  'set GITHUB_TOKEN to a token that begins with ghp_ or github_pat_',
  'AKIAIOSFODNN7EXAMPLE',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  `glpat-${'x'.repeat(20)}`,
  `sk-${'0'.repeat(48)}`,
  'sk_live_xxxxxxxxxxxxxxxxxxxxxxxx',
  'xoxb-your-token-here',
  'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
  'https://user:****@example.org/x.git',
  'https://user:${TOKEN}@example.org/x.git',
  'https://user:$GITHUB_TOKEN@example.org/x.git',
  'https://user:<password>@example.org/x.git',
  'https://git@example.org:8443/team/mesh.git and ssh://git@example.org:22/x',
  'git@github.com:team/mesh.git',
  'http://localhost:8080/a@b',
  'Authorization: Bearer $TOKEN',
  '-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----',
  'the file begins with -----BEGIN OPENSSH PRIVATE KEY-----, so keep it out of the repository',
  `-----BEGIN PUBLIC KEY-----\n${body(64)}\n-----END PUBLIC KEY-----`,
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${body(43)} studio`,
  `SHA256:${body(43)}`,
  body(40, hex),
  body(64, hex),
  `commit ${body(40, hex)} on task-${body(32, hex)}`,
  `sha512-${body(86)}==`,
  '01M8TRRZ39CV1GTX5E096F22XB',
  '123e4567-e89b-42d3-a456-426614174000',
  'eyJhbGciOiJub25lIn0.e30.',
  `data:image/png;base64,iVBORw0KGgo${body(3000)}==`,
  `the cache is under sk-learn/npm_modules/hf_cache_${body(8)}`,
];

describe('secretShapes', () => {
  it.each(secrets)('know a %s: %.12s…', (rule, text) => {
    expect(secretIn(text)).toBe(rule);
    expect(secretIn(`export TOKEN='${text}' # in a line`)).toBe(rule);
    expect(secretIn(JSON.stringify(`line\n${text}\n`))).toBe(rule);
  });

  it.each(harmless)('let through %.60s', (text) => {
    expect(secretIn(text)).toBeNull();
  });

  it('find the real one behind a placeholder', () => {
    expect(secretIn(`not ghp_${'x'.repeat(36)} but ghp_${body(36)}`)).toBe('github-token');
  });

  it('take nothing random for a credential: hashes, base64, base64url', () => {
    let state = 1;
    const random = (length: number): Buffer =>
      Buffer.from(Array.from({ length }, () => (state = (state * 48_271) % 2_147_483_647) >> 8));
    for (let i = 0; i < 300; i += 1) {
      for (const text of [
        random(20).toString('hex'),
        random(600).toString('base64'),
        random(600).toString('base64url'),
      ]) {
        expect(secretIn(text), text).toBeNull();
      }
    }
  });

  it('have no quantifier without a bound, and none on a group that has one inside', () => {
    for (const { rule, pattern } of secretShapes) {
      const plain = pattern.source
        .replace(/\\./g, 'e')
        .replace(/\[[^\]]*\]/g, 'c')
        .replace(/\(\?(?::|<?[=!]|<\w+>)/g, '(');
      expect(plain, rule).not.toMatch(/[*+]|\{\d+,\}/);
      expect(plain, rule).not.toMatch(/\([^()]*[?}][^()]*\)[?{]/);
    }
  });

  it('cost little on the longest text that is made to cost much', () => {
    const heads = ['ghp_', 'eyJ', 'eyJaaaaaaaaa.', 'eyJaaaaaaaa.eyJaaaaaaaa.', 'a://', 'a://u:', 'a://:', 'aa', '-----BEGIN PRIVATE KEY-----', `-----BEGIN PRIVATE KEY-----${'a'.repeat(39)}-`, 'PuTTY-User-Key-File-2: ', 'AccountKey=', 'authorization: bearer ', '?sig=', '1234567890:', 'xoxb-1-', 'AKIA', 'A.a~0Q~', 'sk-', 'sk-ant-', 'aws_secret_key="', '\\n', ' ']; // prettier-ignore
    for (const head of heads) {
      for (const tail of ['', '!', '@']) {
        const text = head.repeat(Math.ceil(16_384 / head.length)).slice(0, 16_383) + tail;
        // What grows with the square of the length takes seconds, and all of them together longer than a test may.
        expect(() => secretIn(text), head + tail).not.toThrow();
      }
    }
  });
});
