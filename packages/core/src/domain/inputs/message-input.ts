import type { Ulid } from '../ids.js';
import { readArguments } from './arguments.js';

export interface MessageInput {
  /** A message's number here, or its ULID. */
  id: Ulid | number;
}

/** For what concerns one message. @throws MeshError `invalid_argument`, `unknown_argument` */
export function parseMessageInput(name: string, input: unknown): MessageInput {
  const given = readArguments(name, ['id'], input);
  return { id: given.required('id', given.message('id')) };
}
