import type { Handle } from '../ids.js';
import { parseHandle } from '../ids.js';
import type { Arguments } from './arguments.js';
import { readArguments, wrongArgument } from './arguments.js';

export interface AdmitInput {
  machine: Handle;
  /** The fingerprint that was compared: nothing is admitted where the machine has another key by now. */
  key?: string;
  confirm: boolean;
}

export interface RevokeInput {
  machine: Handle;
  confirm: boolean;
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseAdmitInput(input: unknown): AdmitInput {
  const given = readArguments('agent_mesh_admit', ['machine', 'key', 'confirm'], input);
  const key = given.text('key', { max: 100 });
  if (key !== undefined && !/^SHA256:[A-Za-z0-9+/]{43}$/.test(key)) {
    throw wrongArgument('key', 'a fingerprint (SHA256:…)', key);
  }
  return { machine: machineOf(given), ...(key === undefined ? {} : { key }), confirm: given.flag('confirm') ?? false };
}

/** @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseRevokeInput(input: unknown): RevokeInput {
  const given = readArguments('agent_mesh_revoke', ['machine', 'confirm'], input);
  return { machine: machineOf(given), confirm: given.flag('confirm') ?? false };
}

const machineOf = (given: Arguments): Handle =>
  parseHandle(given.required('machine', given.text('machine', { max: 100, filled: true })), { argument: 'machine' });
