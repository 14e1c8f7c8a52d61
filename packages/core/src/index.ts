export { checkMachineTexts } from './domain/machine-texts.js';
export { MeshError, errorCodes, errorResult } from './errors.js';
export type { ErrorData, ErrorName, ErrorResult } from './errors.js';
export { silentLogger } from './logger.js';
export type { Logger } from './logger.js';
export type { CallOptions, Connection, MeshApi } from './api.js';
export type { Addressee, AgentId, AgentKey, EpochMillis, Handle, IsoTime, Oid, RefName, Ulid } from './domain/ids.js';
export type * from './domain/records.js';
export { formatVersion, messageTypes } from './domain/records.js';
export type * from './domain/membership-results.js';
export type * from './domain/results.js';
export type { Clock, RandomBytes } from './domain/clock.js';
export type { Syncer } from './domain/syncer.js';
export type { CommitObject, GitObject, ObjectType, Signature, TreeEntry } from './domain/git-object.js';
export type * from './store/ports.js';

// The domain's rules.
export {
  agentKey,
  fromIso,
  handleFromHostname,
  isAgentId,
  isAgentKey,
  isHandle,
  isIsoTime,
  isOid,
  isUlid,
  parseAgentId,
  parseHandle,
  toIso,
} from './domain/ids.js';
export { nextUlid, ulidTime } from './domain/ulid.js';
export { hasControl, hasUnseen, isWellFormed, visibleText } from './domain/visible-text.js';
export { jsonErrorPosition } from './domain/json-error-position.js';
export { jsonLoss, lossText } from './domain/json-loss.js';
export { parseRemoteName, sameRemoteName } from './domain/remote-name.js';
export { nearestName } from './domain/nearest-name.js';
export { shellWord } from './domain/shell-word.js';
export { parseCreateInput, parseJoinInput } from './domain/inputs/founding-input.js';
export { decodeYaml, encodeYaml, maxFileBytes } from './domain/codec.js';
export { unknownKeys } from './domain/record-schema.js';
export { decodeCharter, encodeCharter } from './domain/charter.js';
export { SigningKeys, brokenLink, handoverBytes, keysOf } from './domain/key-chain.js';
export { decodeMachine, encodeMachine } from './domain/machine.js';
export { decodePresence, encodePresence } from './domain/presence-record.js';
export { decodeMessage, encodeMessage } from './domain/message-record.js';
export { decodeAck, encodeAck } from './domain/ack-record.js';
export { decodeReceipt, encodeReceipt } from './domain/receipt-record.js';
export { decodeRoster, encodeRoster } from './domain/roster-record.js';
export {
  ackPath,
  branchRef,
  charterPath,
  charterRef,
  checkAck,
  checkMachine,
  checkMessage,
  checkPresence,
  checkReceipt,
  checkRoster,
  defaultRefPrefix,
  handleOfRef,
  isMeshFolder,
  machinePath,
  messageFolder,
  messagePath,
  parsePath,
  parseRefPrefix,
  presencePath,
  quarantineRef,
  readmePath,
  receiptPath,
  remoteRef,
  remoteRefPrefix,
  rosterPath,
} from './domain/layout.js';
export type { MeshPath } from './domain/layout.js';
export { decodeCommit, decodeTree, encodeCommit, encodeTree } from './domain/git-object.js';
export type { CommitParts } from './domain/git-object.js';
export { diffTree, editTree, emptyTree, lookupPath, walkTree } from './domain/tree-edit.js';
export type {
  EditedTree,
  HashObject,
  ReadTree,
  TreeChange,
  TreeEdits,
  TreeFile,
  WalkLimits,
} from './domain/tree-edit.js';
export { eventNames, formatCommitMessage, isEventName, parseCommitMessage, targetOf } from './domain/commit-message.js';
export type { ParsedCommitMessage } from './domain/commit-message.js';
export {
  ackSummary,
  expireSummary,
  presenceSummary,
  pruneSummary,
  receiptSummary,
  sendSummary,
} from './domain/commit-summary.js';
export {
  agentView,
  defaultTtl,
  effectiveExpiry,
  isAlive,
  presencePruneDue,
  renewalDue,
  renewedRecord,
  rideAlong,
  ttlRange,
} from './domain/presence.js';
export { clearsFreeze, coversRepo, freezesInForce } from './domain/freeze.js';
export { messagesDue } from './domain/message-prune.js';
export type { DueMessage } from './domain/message-prune.js';
export { messageState } from './domain/message-state.js';
export type { MessageProgress } from './domain/message-state.js';
export { isMessageType } from './domain/message-type.js';
export { maxPayloadBytes, payloadBytes } from './domain/payload.js';
export {
  defaultMessageTtl,
  messageTtlRange,
  parseAckInput,
  parseAgentsInput,
  parseCheckinInput,
  parseCheckoutInput,
  parseInboxInput,
  parseInviteInput,
  parseLogInput,
  parseSendInput,
  parseSentInput,
} from './domain/inputs.js';
export type {
  AckInput,
  AgentsInput,
  CheckinInput,
  CheckoutInput,
  InboxInput,
  InviteInput,
  LogInput,
  SendInput,
  SentInput,
} from './domain/inputs.js';
export { containsPath } from './store/contains-path.js';
export { Store } from './store/store.js';
export type { StoreDeps, StoreDraft } from './store/store.js';
export { commitOnBranch } from './store/commit.js';
export type { BranchCommit, BranchTip } from './store/commit.js';
export { sweepTemporary, writeAtomic, writeDurable, writeDurableFrom } from './store/durable-fs.js';
export { errnoOf, isErrno } from './store/fs.js';
export { systemFailure } from './store/system-failure.js';
export type { Fs, FsFile, FsStat } from './store/fs.js';
export { nodeFs } from './store/node-fs.js';
export { LooseObjects } from './store/loose-objects.js';
export { packParts } from './store/pack-write.js';
export { hashObject } from './store/object-id.js';
export { isRefName } from './store/ref-name-check.js';
export { StoreRefs } from './store/refs.js';
export { ownIdentity, pidExists, provenDead } from './store/identity.js';
export { withStoreLock } from './store/store-lock.js';
export { MachineKey } from './store/keys.js';
export { readKeyFile } from './store/key-file.js';
export { checkPublicKey, isWeakKey, keyFingerprint } from './store/public-key.js';
export { verifyBytes } from './store/raw-signature.js';
export { sshVerifier, verifySshSignature } from './store/ssh-signature.js';
export type { SshVerifier } from './store/ssh-signature.js';
export { admitInvited } from './mesh/admit-invited.js';
export { inviteProof, isInviteProof } from './store/invite-proof.js';
export { isSameSecret } from './store/same-secret.js';
export { foreignRequest } from './domain/loopback-request.js';
export { decodeInviteCode, encodeInviteCode, inviteProofText, requireUnexpired } from './domain/invite-code.js';
export { factsWithoutInviteCodes, withoutInviteCodes } from './domain/invite-mask.js';
export { isInviteCode, mayBeInviteCode } from './domain/invite-shape.js';
export type { InviteCode } from './domain/invite-code.js';
export { heldProblem } from './store/ownership.js';
export { Branches, maxRecordBytes } from './mesh/branches.js';
export type { Branch } from './mesh/branches.js';
export { commitsBetween, forkPoint, isAncestor, maxCommits, seqOf } from './mesh/ancestry.js';
export type { Edge } from './mesh/older-history.js';
export { journalOwnBranch, readableArrivals } from './mesh/arrivals.js';
export { settleJournal } from './mesh/settle-journal.js';
export { charterConflicts } from './mesh/charter-conflicts.js';
export { founderKey, readCharter } from './mesh/charter.js';
export { maxLaterCommits, readFounding } from './mesh/read-founding.js';
export type { MeshContext } from './mesh/context.js';
export { commitMachine, foundCharter } from './mesh/founding.js';
export { housekeeping } from './mesh/housekeeping.js';
export { commitAdmission } from './mesh/admission.js';
export { machineAt } from './mesh/machine-at.js';
export { fetchedTips } from './mesh/requests.js';
export { ownStanding } from './mesh/membership-rules.js';
export { cutOf } from './mesh/standing.js';
export { claimsOf } from './mesh/invite-claims.js';
export type { Claim } from './mesh/invite-claims.js';
export { usedBy } from './mesh/used-invitation.js';
export type { Roster } from './mesh/standing.js';
export { admissionOf } from './domain/roster.js';
export type { Cut } from './domain/roster.js';
export { mendStore } from './mesh/mend-store.js';
export { commitReceipts, stateMissingReceipts } from './mesh/receipts.js';
export { replayCommits } from './mesh/replay.js';
export { meshApi } from './mesh/mesh-api.js';
export { refusalWarning, remoteAdvice, withoutRefusal } from './domain/remote-advice.js';
export { examineFolder, problemOf } from './store/examine-folder.js';
export { inboxOutline, waitingMessages } from './mesh/waiting.js';
export type { OutlinedMessage } from './mesh/waiting.js';
export { partialHistory } from './mesh/status.js';
export type { SyncFacts } from './mesh/status.js';
export { isFolder } from './domain/git-tree.js';
export { differingRuns } from './domain/tree-runs.js';
export { steadyNow } from './mesh/steady-now.js';
