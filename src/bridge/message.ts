/** Id of a JSON-RPC request. */
export type Id = string | number;

/** What the bridge looks at in a message; everything else goes through as it came. */
export type Message = {
  readonly id?: Id;
  readonly method?: string;
  /** The request that a `notifications/cancelled` is about. */
  readonly cancels?: Id;
  /** Protocol version that the message, or the reply to `initialize`, says of itself. */
  readonly version?: string;
  /** Tool, prompt or resource that the message names. */
  readonly subject?: string;
  /** Code and message of an error. */
  readonly error?: {readonly code: number; readonly message: string};
};

const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The message in a text; undefined when it is not JSON. What is no object is a message that says nothing. */
export function readMessage(text: string): Message | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const id = idOf(field(body, 'id'));
  const method = textOf(field(body, 'method'));
  const params = field(body, 'params');
  const cancels = method === 'notifications/cancelled' ? idOf(field(params, 'requestId')) : undefined;
  const version =
    textOf(field(field(params, '_meta'), VERSION)) ?? textOf(field(field(body, 'result'), 'protocolVersion'));
  const subject = textOf(field(params, 'name')) ?? textOf(field(params, 'uri'));
  const error = errorOf(field(body, 'error'));
  return {
    ...(id === undefined ? {} : {id}),
    ...(method === undefined ? {} : {method}),
    ...(cancels === undefined ? {} : {cancels}),
    ...(version === undefined ? {} : {version}),
    ...(subject === undefined ? {} : {subject}),
    ...(error === undefined ? {} : {error}),
  };
}

/** A JSON-RPC error as a line. */
export function errorLine(id: Id | null, code: number, message: string): string {
  return JSON.stringify({jsonrpc: '2.0', id, error: {code, message}});
}

/** JSON on one line: line ends can only stand between its values. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}

function errorOf(value: unknown): Message['error'] {
  const code = field(value, 'code');
  const message = textOf(field(value, 'message'));
  return typeof code === 'number' && message !== undefined ? {code, message} : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function idOf(value: unknown): Id | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
