import type { MeshTool } from './mesh-tool.js';
import { agentAck } from './tools/agent-ack.js';
import { agentCheckin } from './tools/agent-checkin.js';
import { agentCheckout } from './tools/agent-checkout.js';
import { agentInbox } from './tools/agent-inbox.js';
import { agentMeshAdmit } from './tools/agent-mesh-admit.js';
import { agentMeshCreate } from './tools/agent-mesh-create.js';
import { agentMeshInvite } from './tools/agent-mesh-invite.js';
import { agentMeshJoin } from './tools/agent-mesh-join.js';
import { agentMeshLeave } from './tools/agent-mesh-leave.js';
import { agentMeshRevoke } from './tools/agent-mesh-revoke.js';
import { agentMeshStatus } from './tools/agent-mesh-status.js';
import { agentSend } from './tools/agent-send.js';
import { agentSent } from './tools/agent-sent.js';
import { agentsList } from './tools/agents-list.js';

/** Every tool in the order in which clients list them, which never varies. `platform` as in `process.platform`. */
export function meshTools(platform: string): readonly MeshTool[] {
  return [
    agentCheckin(platform),
    agentsList,
    agentSend,
    agentInbox,
    agentAck,
    agentSent,
    agentCheckout,
    agentMeshStatus,
    agentMeshCreate,
    agentMeshInvite,
    agentMeshJoin,
    agentMeshAdmit,
    agentMeshRevoke,
    agentMeshLeave,
  ];
}
