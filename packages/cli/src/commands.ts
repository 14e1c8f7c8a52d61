import type { Command } from 'commander';
import type { Cli } from './cli.js';
import { registerAck } from './commands/ack.js';
import { registerAdmit } from './commands/admit.js';
import { registerAgents } from './commands/agents.js';
import { registerCheckin } from './commands/checkin.js';
import { registerCheckout } from './commands/checkout.js';
import { registerCompletion } from './commands/completion.js';
import { registerDemo } from './commands/demo.js';
import { registerDoctor } from './commands/doctor.js';
import { registerExport } from './commands/export.js';
import { registerFreeze } from './commands/freeze.js';
import { registerGuard } from './commands/guard.js';
import { registerHook } from './commands/hook.js';
import { registerImport } from './commands/import.js';
import { registerInbox } from './commands/inbox.js';
import { registerInit } from './commands/init.js';
import { registerInvite } from './commands/invite.js';
import { registerJoin } from './commands/join.js';
import { registerLeave } from './commands/leave.js';
import { registerKeys } from './commands/keys.js';
import { registerLog } from './commands/log.js';
import { registerMaintain } from './commands/maintain.js';
import { registerMcp } from './commands/mcp.js';
import { registerReclaim } from './commands/reclaim.js';
import { registerRemote } from './commands/remote.js';
import { registerRotateKey } from './commands/rotate-key.js';
import { registerRevoke } from './commands/revoke.js';
import { registerSend } from './commands/send.js';
import { registerSent } from './commands/sent.js';
import { registerSetup } from './commands/setup.js';
import { registerStatus } from './commands/status.js';
import { registerSync } from './commands/sync.js';
import { registerTrace } from './commands/trace.js';
import { registerUi } from './commands/ui.js';
import { registerUnfreeze } from './commands/unfreeze.js';
import { registerUnsend } from './commands/unsend.js';
import { registerWatch } from './commands/watch.js';

type Register = (program: Command, cli: Cli) => void;

/** By their names, in the order of the help. */
export const commandGroups: readonly { heading: string; commands: Readonly<Record<string, Register>> }[] = [
  {
    heading: 'The mesh:',
    commands: {
      init: registerInit,
      join: registerJoin,
      invite: registerInvite,
      status: registerStatus,
      doctor: registerDoctor,
      sync: registerSync,
      remote: registerRemote,
      reclaim: registerReclaim,
    },
  },
  {
    heading: 'Keys and members:',
    commands: {
      keys: registerKeys,
      admit: registerAdmit,
      revoke: registerRevoke,
      'rotate-key': registerRotateKey,
      leave: registerLeave,
    },
  },
  { heading: 'Carried by hand:', commands: { export: registerExport, import: registerImport } },
  { heading: 'Presence:', commands: { checkin: registerCheckin, checkout: registerCheckout, agents: registerAgents } },
  {
    heading: 'Messages:',
    commands: {
      send: registerSend,
      inbox: registerInbox,
      watch: registerWatch,
      ack: registerAck,
      sent: registerSent,
      unsend: registerUnsend,
    },
  },
  {
    heading: 'Audit and merges:',
    commands: {
      log: registerLog,
      trace: registerTrace,
      ui: registerUi,
      freeze: registerFreeze,
      unfreeze: registerUnfreeze,
      guard: registerGuard,
    },
  },
  {
    heading: 'More:',
    commands: {
      mcp: registerMcp,
      setup: registerSetup,
      hook: registerHook,
      maintain: registerMaintain,
      demo: registerDemo,
      completion: registerCompletion,
    },
  },
];
