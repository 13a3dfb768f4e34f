/** MCP between an agent and the platform: what its processes agree on. It imports nothing, so that the bridge stays small. */

/** Bytes of one message from a client; gateway, loopback endpoint and stdio bridge refuse longer ones. */
export const MAX_MCP_MESSAGE = 1_048_576;

/** On a refusal of the gateway itself, before any tool ran: such a call may be sent again, whatever it does. */
export const EFFECT_HEADER = 'carrel-effect';
export const NO_EFFECT = 'none';
