// Content that the scenarios of @modelcontextprotocol/conformance ask for by name.
import {CLIENT_CAPABILITIES_META_KEY, type ContentBlock, type ServerContext} from '@modelcontextprotocol/server';
import {z} from 'zod';

/** One red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A sound of no length. */
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

/** Words. */
export function words(text: string): ContentBlock {
  return {type: 'text', text};
}

/** A picture. */
export const picture: ContentBlock = {type: 'image', data: PNG, mimeType: 'image/png'};

/** A text resource inside of something else. */
export function embedded(uri: string, text: string, mimeType = 'text/plain'): ContentBlock {
  return {type: 'resource', resource: {uri, mimeType, text}};
}

const Capabilities = z.looseObject({sampling: z.unknown(), elicitation: z.unknown()}).partial();
const Envelope = z.object({[CLIENT_CAPABILITIES_META_KEY]: Capabilities}).partial();

/** What the client of this request says that it can do. */
export function declared({mcpReq}: ServerContext): {sampling: boolean; elicitation: boolean} {
  const said = Envelope.parse(mcpReq.envelope ?? {})[CLIENT_CAPABILITIES_META_KEY];
  return {sampling: said?.sampling !== undefined, elicitation: said?.elicitation !== undefined};
}
