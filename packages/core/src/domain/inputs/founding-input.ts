import { isInviteCode } from '../invite-shape.js';
import { readArguments, wrongArgument } from './arguments.js';
import type { Arguments } from './arguments.js';

export interface CreateInput {
  remote: string | undefined;
  machine: string | undefined;
  label: string | undefined;
  policy: 'open' | 'roster';
  confirm: boolean;
}

export interface JoinInput {
  /** A repository, or an invitation: then it is a secret. */
  url: string;
  machine: string | undefined;
  label: string | undefined;
  confirm: boolean;
}

const maxUrl = 4_000;

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseCreateInput(input: unknown): CreateInput {
  const given = readArguments('agent_mesh_create', ['remote', 'machine', 'label', 'policy', 'confirm'], input);
  const policy = given.text('policy', { max: 20 }) ?? 'open';
  if (policy !== 'open' && policy !== 'roster') throw wrongArgument('policy', 'open or roster', policy);
  return { remote: location(given, 'remote'), ...identity(given), policy };
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseJoinInput(input: unknown): JoinInput {
  const given = readArguments('agent_mesh_join', ['url', 'machine', 'label', 'confirm'], input);
  return { url: given.required('url', location(given, 'url')), ...identity(given) };
}

function identity(given: Arguments): { machine: string | undefined; label: string | undefined; confirm: boolean } {
  return {
    machine: given.text('machine', { max: 200, filled: true }),
    label: given.text('label', { max: 200 }),
    confirm: given.flag('confirm') ?? false,
  };
}

/** A server's working directory is its client's to choose: a relative path would mean another place each time. */
function location(given: Arguments, name: string): string | undefined {
  const value = given.text(name, { max: maxUrl, filled: true });
  if (value === undefined || isInviteCode(value) || /^(?:[\\/~]|[^\\/]*:)/.test(value)) return value;
  throw wrongArgument(name, 'an absolute path, host:path, or a URL', value);
}
