/** What stands in the mesh at the end of a soak, after everything was synchronised. */
export interface Observed {
  machines: ObservedMachine[];
}

export interface ObservedMachine {
  handle: string;
  /** Each agent that stayed checked in from beginning to end, with its whole inbox in its order. */
  inboxes: ObservedInbox[];
  /** ULIDs that the commits of its branch say were sent, oldest first. */
  sentInHistory: string[];
  /** ULIDs of the messages in the tip of its branch. */
  sentInTip: string[];
  /** What other machines' branches, as this machine's store has them, acknowledge of what it sent; its own too. */
  acks: { machine: string; agent: string; id: string }[];
  /** Its newest messages by `git-mesh sent`. */
  sent: ObservedSent[];
}

export interface ObservedInbox {
  agent: string;
  messages: ObservedMessage[];
}

export interface ObservedMessage {
  id: string;
  messageId: number;
  from: { machine: string; agent: string | null };
  type: string;
  payload: Record<string, unknown>;
  directed: boolean;
}

export interface ObservedSent {
  id: string;
  to: string;
  state: string;
  deliveredTo: string[];
  acks: { machine: string; agent: string }[];
}
