import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  JSONRPCMessageSchema,
  ListPromptsRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema,
  RequestIdSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

/** An answer to what is no request that can be handled; `id` null where none could be read. */
export interface RpcProblem {
  jsonrpc: '2.0';
  id: RequestId | null;
  error: { code: number; message: string };
}

/** What one line of input is: a message to hand on, something to refuse, or something that JSON-RPC answers with silence. */
export type CheckedLine =
  | { kind: 'message'; message: JSONRPCMessage }
  | { kind: 'problem'; problem: RpcProblem }
  | { kind: 'ignored'; reason: string };

/** The requests that the server has handlers for: the SDK would answer wrong parameters with an internal error. */
const requestSchemas = new Map(
  [
    InitializeRequestSchema,
    PingRequestSchema,
    ListToolsRequestSchema,
    CallToolRequestSchema,
    ListResourcesRequestSchema,
    ListResourceTemplatesRequestSchema,
    ReadResourceRequestSchema,
    SubscribeRequestSchema,
    UnsubscribeRequestSchema,
    ListPromptsRequestSchema,
    GetPromptRequestSchema,
    CompleteRequestSchema,
    SetLevelRequestSchema,
  ].map((schema) => [schema.shape.method.value as string, schema] as const),
);

export function rpcProblem(id: RequestId | null, code: ErrorCode, message: string): RpcProblem {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Reads one line as JSON-RPC wants: -32700 for what is not JSON, -32600 for what is no message, -32602 for wrong parameters. */
export function checkLine(line: string): CheckedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refused(
      null,
      ErrorCode.ParseError,
      'Parse error: this line is not JSON; each line must be one whole message',
    );
  }
  if (Array.isArray(value)) {
    return refused(
      null,
      ErrorCode.InvalidRequest,
      'Invalid request: batches are not supported; send one message a line',
    );
  }
  if (typeof value !== 'object' || value === null) {
    return refused(null, ErrorCode.InvalidRequest, 'Invalid request: expected a JSON-RPC message, an object');
  }
  const given: Record<string, unknown> = { ...value };
  const { jsonrpc, id, method, params } = given;
  // Never an answer to an answer: two sides that do that talk for ever.
  if (method === undefined && ('result' in value || 'error' in value)) return response(value);
  const requestId = RequestIdSchema.safeParse(id);
  const answerTo = requestId.success ? requestId.data : null;
  if (jsonrpc !== '2.0' || typeof method !== 'string' || (id !== undefined && answerTo === null)) {
    const wanted = 'jsonrpc "2.0", a method, and an id that is a string or a whole number';
    return refused(answerTo, ErrorCode.InvalidRequest, `Invalid request: expected ${wanted}`);
  }
  const wrong = wrongParams(method, params, value);
  if (wrong === null) {
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) return { kind: 'message', message: message.data };
    const text = 'Invalid request: a message has jsonrpc, id, method and params, and nothing else';
    return answerTo === null ? ignored(text) : refused(answerTo, ErrorCode.InvalidRequest, text);
  }
  if (answerTo === null) return ignored(`${method}: ${wrong}`);
  return refused(answerTo, ErrorCode.InvalidParams, `Invalid params of ${method}: ${wrong}`);
}

function refused(id: RequestId | null, code: ErrorCode, message: string): CheckedLine {
  return { kind: 'problem', problem: rpcProblem(id, code, message) };
}

const ignored = (reason: string): CheckedLine => ({ kind: 'ignored', reason });

function response(value: object): CheckedLine {
  const message = JSONRPCMessageSchema.safeParse(value);
  return message.success ? { kind: 'message', message: message.data } : ignored('a response that is malformed');
}

/** In plain words; null where nothing is wrong or the method is nobody's. */
function wrongParams(method: string, params: unknown, request: object): string | null {
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params))) {
    return `params: expected an object, got ${kindOf(params)}; leave it out where there are none`;
  }
  const parsed = requestSchemas.get(method)?.safeParse(request);
  const [issue] = parsed?.error?.issues ?? [];
  if (issue === undefined) return namesPrototype(params) ? `arguments: "__proto__" is no argument of any tool` : null;
  const path = issue.path.map(String).join('.');
  if (path === 'params.arguments') {
    const given = params !== undefined && 'arguments' in params ? params.arguments : undefined;
    return `arguments: expected an object of named arguments, got ${kindOf(given)}; leave it out where there are none`;
  }
  return `${path}: ${issue.message.replace(/^Invalid input: /, '')}`;
}

/** The schema would drop it without a word, where every other unknown argument is refused. */
function namesPrototype(params: object | undefined): boolean {
  if (params === undefined || !('arguments' in params)) return false;
  return (
    typeof params.arguments === 'object' && params.arguments !== null && Object.hasOwn(params.arguments, '__proto__')
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
