import type { AgentId, Handle, IsoTime, Oid, Ulid } from './ids.js';
import type { Verified } from './results.js';

/** The results of what changes or shows who belongs to the mesh. `key` is always a fingerprint (`SHA256:…`). */

/**
 * Why a machine counts: by the charter, a member's word, its first appearance here, or (under the policy open) because it
 * is this machine itself; or why it does not.
 */
export type Standing = 'founder' | 'own' | 'admitted' | 'first-seen' | 'waiting' | 'conflict' | 'revoked' | 'left';

export interface AdmitResult {
  preview: boolean;
  machine: Handle;
  key: string;
  /** True where it was admitted before: nothing was written. */
  already: boolean;
  next?: string;
}

export interface RevokeResult {
  preview: boolean;
  machine: Handle;
  key: string;
  /** The last commit of its branch that is believed. */
  through: { seq: number; commit: Oid };
  /** `everywhere` under the policy roster; under open it binds this machine, and others are shown it. */
  binds: 'everywhere' | 'here';
  next?: string;
}

export interface LeaveResult {
  preview: boolean;
  machine: Handle;
  /** Agents of this machine that are checked out by it. */
  agents: AgentId[];
  next?: string;
}

export interface RotateKeyResult {
  preview: boolean;
  machine: Handle;
  /** The new key's; null in a preview, which makes none. */
  key: string | null;
  previous: string;
  /** Of a machine that was revoked. */
  warning?: string;
  next?: string;
}

export interface InviteResult {
  preview: boolean;
  /** The inviter. */
  machine: Handle;
  key: string;
  mesh: { id: Ulid; name: string };
  /** Null in a preview. A secret: whoever has it can join once. */
  code: string | null;
  expires_at: IsoTime | null;
  next?: string;
}

export interface KeyView {
  machine: Handle;
  key: string;
  /** As one OpenSSH line without a comment. */
  public_key: string;
  standing: Standing;
  verified: Verified;
  /** The machine whose statement made its standing what it is. */
  by: Handle | null;
  /** Fingerprints of the keys that it had before. */
  previous: string[];
}

export interface KeysResult {
  machine: Handle;
  policy: 'open' | 'roster';
  keys: KeyView[];
  /** The text of a file for git's `gpg.ssh.allowedSignersFile`. */
  allowed_signers: string;
}
