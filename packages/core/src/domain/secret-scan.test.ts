import { describe, expect, it } from 'vitest';
import { MeshError } from '../errors.js';
import { parseCheckinInput } from './inputs/checkin-input.js';
import { parseSendInput } from './inputs/send-input.js';
import { findSecret } from './secret-scan.js';

const secret = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
const send = (input: object): unknown => parseSendInput({ to: 'laptop', msg_type: 'note', ...input });

function refusal(act: () => unknown): MeshError {
  try {
    act();
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('findSecret', () => {
  it.each([
    [{ env: { token: secret } }, 'payload.env.token'],
    [{ list: ['a', { b: `x ${secret}` }] }, 'payload.list[1].b'],
    [{ deep: { [secret]: 1 } }, 'a key of payload.deep'],
    [{ deep: { [secret]: { inner: secret } } }, 'a key of payload.deep'],
    [JSON.parse(`{"__proto__": "${secret}"}`) as object, 'payload.__proto__'],
  ])('says where: %#', (payload, place) => {
    expect(findSecret(payload as never, 'payload')).toEqual({ rule: 'github-token', place });
  });

  it('knows by its name what no shape tells', () => {
    const value = 'aB3dE5gH7j'.repeat(4);
    expect(findSecret({ env: { AWS_SECRET_ACCESS_KEY: value } }, 'payload')).toEqual({
      rule: 'aws-secret-key',
      place: 'payload.env.AWS_SECRET_ACCESS_KEY',
    });
    expect(findSecret({ env: { COMMIT: value } }, 'payload')).toBeNull();
  });
});

describe('a credential', () => {
  it('is refused in what is sent, with its rule and place and not one piece of it', () => {
    for (const payload of [{ env: { token: secret } }, { [secret]: 1 }, { [`${secret}x`.slice(0, 40)]: {} }]) {
      const { errorName, code, message, data } = refusal(() => send({ payload }));
      expect([errorName, code]).toEqual(['secret_found', 400]);
      expect(data['rule']).toBe('github-token');
      expect(message + JSON.stringify(data)).not.toContain(secret.slice(4, 12));
    }
    expect(refusal(() => send({ payload: { env: { token: secret } } }))).toMatchObject({
      message: expect.stringContaining('"payload.env.token" looks like a credential (rule github-token)') as string,
      data: { rule: 'github-token', place: 'payload.env.token' },
    });
    expect(refusal(() => send({ key: secret })).data).toEqual({ rule: 'github-token', place: 'key' });
  });

  it('is sent where that is asked for', () => {
    const payload = { token: secret };
    expect(send({ payload, key: secret, allow_secret: true })).toMatchObject({ payload, key: secret });
    expect(refusal(() => send({ payload, allow_secret: false })).errorName).toBe('secret_found');
    expect(refusal(() => send({ payload, allow_secret: 'yes' })).message).toContain('allow_secret: expected true');
  });

  it('is found after the size and before the type', () => {
    const big = { token: secret, s: 'x'.repeat(16_384) };
    expect(refusal(() => send({ payload: big, msg_type: 'nonsense' })).errorName).toBe('payload_too_large');
    expect(refusal(() => send({ payload: { token: secret }, msg_type: 'nonsense' })).errorName).toBe('secret_found');
  });

  it('is refused in everything that a check-in publishes, and not in the pane, which stays here', () => {
    const checkin = (input: object): unknown => parseCheckinInput({ agent_id: 'qa', ...input });
    expect(refusal(() => checkin({ status: `using ${secret}` })).data).toEqual({
      rule: 'github-token',
      place: 'status',
    });
    expect(refusal(() => checkin({ repo: 'https://me:hunter2@example.org/shop' })).data['place']).toBe('repo');
    expect(refusal(() => checkin({ caps: ['merge', secret] })).data['place']).toBe('caps[1]');
    expect(refusal(() => checkin({ role: secret })).message).toContain('word it otherwise');
    expect(refusal(() => checkin({ agent_id: secret })).data['place']).toBe('agent_id');
    expect(checkin({ herdr_pane: secret, status: 'porting the importer' })).toBeDefined();
  });
});
