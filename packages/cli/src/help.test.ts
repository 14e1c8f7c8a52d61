import { expect, it } from 'vitest';
import { exitCodes } from './exit-code.js';
import { runStubbed } from './testing/stub-runtime.js';

// Loaded as the program loads it: never with the program itself.
const { defaultMessageTtl, defaultTtl, parseInboxInput, parseSentInput } = await import('@git-mesh/core');

/** The help as one line, however it is wrapped. */
const help = async (...command: string[]): Promise<string> =>
  (await runStubbed([...command, '--help'])).out.replace(/\s+/g, ' ');

it('the help lists every exit code', async () => {
  const [, codes = ''] = /Exit codes: (.*?\.) /.exec(await help()) ?? [];
  const listed = [...codes.matchAll(/(?:^|; )(\d+) /g)].map(([, code]) => Number(code));
  expect(listed).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
});

it('has one group for who belongs to the mesh, with all of its commands', async () => {
  const group = /Keys and members:(.*?)Carried by hand:/.exec(await help())?.[1] ?? '';
  for (const name of ['keys', 'admit', 'revoke', 'rotate-key', 'leave']) expect(group).toContain(` ${name} [options]`);
});

it('says what is taken where an option is left out', async () => {
  const { limit } = parseInboxInput({ agent_id: 'a' });
  expect(await help('inbox')).toContain(`(1 to 100; default: ${limit})`);
  expect(await help('sent')).toContain(`(1 to 100; default: ${parseSentInput({}).limit})`);
  expect([defaultTtl(null), defaultTtl('ping'), defaultTtl('verification')]).toEqual([3600, 900, 900]);
  expect(await help('checkin')).toContain('default: 3600, for the roles ping and verification 900)');
  expect([defaultMessageTtl('note'), defaultMessageTtl('freeze')]).toEqual([7 * 86_400, 86_400]);
  expect(await help('send')).toContain('default: a week, a freeze a day)');
  expect(await help('freeze')).toContain(`default: ${defaultMessageTtl('freeze')}, a day)`);
  expect(await help('init')).toMatch(/open, the default.*roster/);
});

it('says what to type for the actions of remote, and when hook ends otherwise than with 0', async () => {
  expect(await help('remote')).toContain('git-mesh remote [options] [list | add <name> <url> | remove <name>]');
  expect(await help('hook')).toContain('with 1 only where it is called wrongly');
});
