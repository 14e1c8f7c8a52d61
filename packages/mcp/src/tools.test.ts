import { describe, expect, it } from 'vitest';
import { instructions } from './instructions.js';
import type { JsonSchema } from './json-schema.js';
import { meshTools } from './tools.js';

const tool = (name: string, platform = 'linux') => {
  const found = meshTools(platform).find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};

/** The input schemas as their users know them: name → type (of a list: of its items). */
const known = {
  agent_checkin: {
    required: ['agent_id'],
    properties: {
      agent_id: 'string',
      role: 'string',
      repo: 'string',
      caps: 'array of string',
      status: 'string',
      ttl_seconds: 'integer',
      herdr_pane: 'string',
      confirm: 'boolean',
    },
    added: [],
  },
  agent_send: {
    required: ['to', 'msg_type'],
    properties: { to: 'string', msg_type: 'string', to_agent: 'string', from_agent: 'string', payload: 'object' },
    added: ['in_reply_to', 'ttl_seconds', 'key', 'allow_secret'],
  },
  agent_ack: {
    required: ['agent_id', 'message_ids'],
    properties: { agent_id: 'string', message_ids: 'array of integer', confirm: 'boolean' },
    added: [],
  },
};

const typeOf = (schema: JsonSchema | undefined): string =>
  schema?.items === undefined ? String(schema?.type) : `${String(schema.type)} of ${String(schema.items.type)}`;

describe('the tools', () => {
  it('are listed in one order, on every platform', () => {
    const names = [
      'agent_checkin',
      'agents_list',
      'agent_send',
      'agent_inbox',
      'agent_ack',
      'agent_sent',
      'agent_checkout',
      'agent_mesh_status',
      'agent_mesh_create',
      'agent_mesh_invite',
      'agent_mesh_join',
      'agent_mesh_admit',
      'agent_mesh_revoke',
      'agent_mesh_leave',
    ];
    for (const platform of ['linux', 'darwin', 'win32']) {
      expect(meshTools(platform).map(({ name }) => name)).toEqual(names);
    }
  });

  it.each(Object.entries(known))('keep the names, types and required of %s', (name, want) => {
    for (const platform of ['darwin', 'win32']) {
      const { properties, required } = tool(name, platform).inputSchema;
      expect(required).toEqual(want.required);
      for (const [key, type] of Object.entries(want.properties))
        expect(`${key} ${typeOf(properties[key])}`).toBe(`${key} ${type}`);
      expect(Object.keys(properties).sort()).toEqual([...Object.keys(want.properties), ...want.added].sort());
    }
  });

  it('say on Windows that a Herdr pane is not honoured, and elsewhere what it is woken with', () => {
    const description = (platform: string) =>
      tool('agent_checkin', platform).inputSchema.properties['herdr_pane']?.description ?? '';
    expect(description('win32')).toContain('NOT HONOURED');
    expect(description('win32')).toContain('unsupported');
    expect(description('darwin')).toContain('[auto-wake #2540] Hay N mensajes de Agent Mesh; llamá agent_inbox');
  });

  it('refuse unknown arguments and describe the known ones', () => {
    for (const { name, inputSchema } of meshTools('linux')) {
      expect(inputSchema.additionalProperties, name).toBe(false);
      for (const [key, schema] of Object.entries(inputSchema.properties)) {
        expect(schema.description?.length ?? 0, `${name}.${key}`).toBeGreaterThan(10);
      }
    }
  });

  it('take a message as a ULID or a number', () => {
    for (const schema of [
      tool('agent_send').inputSchema.properties['in_reply_to'],
      tool('agent_inbox').inputSchema.properties['after'],
    ]) {
      expect(schema?.anyOf).toEqual([{ type: 'string' }, { type: 'integer' }]);
    }
  });

  it('have plain objects at the top of their schemas, and every result may be an error', () => {
    for (const { inputSchema, outputSchema } of meshTools('linux')) {
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema.type).toBe('object');
        expect(
          Object.keys(schema).filter(
            (key) => !['type', 'properties', 'required', 'additionalProperties'].includes(key),
          ),
        ).toEqual([]);
      }
      expect(outputSchema.required).toBeUndefined();
      expect(outputSchema.properties['error']?.required).toEqual(['code', 'name', 'message']);
    }
  });

  it('give all four annotations', () => {
    const hints = Object.fromEntries(
      meshTools('linux').map(({ name, annotations: a }) => [
        name,
        [a.readOnlyHint, a.destructiveHint, a.idempotentHint, a.openWorldHint].map(Number).join(''),
      ]),
    );
    expect(hints).toEqual({
      agent_checkin: '0011',
      agents_list: '1011',
      agent_send: '0001',
      agent_inbox: '1011',
      agent_ack: '0110',
      agent_sent: '1010',
      agent_checkout: '0110',
      agent_mesh_status: '1011',
      agent_mesh_create: '0011',
      agent_mesh_join: '0011',
      agent_mesh_invite: '0000',
      agent_mesh_admit: '0010',
      agent_mesh_revoke: '0110',
      agent_mesh_leave: '0110',
    });
  });

  it('cost little of an agent’s context', () => {
    for (const platform of ['linux', 'win32']) {
      const bytes = Buffer.byteLength(JSON.stringify(meshTools(platform)));
      expect(bytes).toBeLessThan(24_000);
    }
    for (const { name, description } of meshTools('linux'))
      expect(Buffer.byteLength(description), name).toBeLessThan(2048);
  });
});

describe('the instructions', () => {
  it('are whole within what clients show', () => {
    expect(Buffer.byteLength(instructions)).toBeLessThan(2048);
  });

  it('say the essential in their first 512 characters', () => {
    const [first = ''] = instructions.split('\n\n');
    expect(first.length).toBeLessThanOrEqual(512);
    for (const word of [
      'agent_checkin',
      'confirm: true',
      'agents_list',
      'agent_send',
      'agent_inbox',
      'agent_ack',
      'never instructions',
    ]) {
      expect(first).toContain(word);
    }
  });
});
