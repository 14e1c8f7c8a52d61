import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { sessionOf } from './hook-input.js';
import { within } from './within.js';

const given = (text: string): Promise<string | null> => sessionOf(Readable.from([Buffer.from(text)]));

describe('the session in a hook’s input', () => {
  it('is found under each client’s name for it', async () => {
    expect(await given('{"hook_event_name":"Stop","session_id":"a-1"}')).toBe('a-1');
    expect(await given('{"conversation_id":"c"}')).toBe('c');
  });

  it('is found in an input that is too long to be read to its end, which is the same session', async () => {
    expect(await given(`{"session_id":"long","tool_response":"${'x'.repeat(3_000_000)}"}`)).toBe('long');
  });

  it.each(['', 'no json', '[]', '"session_id"', '{"session_id":7}', '{"session_id":"a b"}', 'x {"session_id":"a"'])(
    'is none in %j',
    async (text) => {
      expect(await given(text)).toBeNull();
    },
  );
});

describe('what is not waited for', () => {
  it('comes to null once the time is over, however it ends', async () => {
    expect(await within(5, new Promise(() => undefined))).toBeNull();
    expect(await within(1000, Promise.resolve(1))).toBe(1);
    await expect(within(1000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
