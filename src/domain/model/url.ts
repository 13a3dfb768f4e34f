import {type Dialect, type ModelCall, versionSegment} from './dialect.ts';

/** Where the calls of one session go. */
export interface Upstream {
  /** `https://host[:port]`, as in the Secret's `origin`. */
  origin: string;
  host: string;
  port: number;
  /** Path before the version segment, without a slash at its end. */
  prefix: string;
  /** The base URL names its version itself, so the dialect's own one is not put in. */
  versioned: boolean;
}

/** The base URL cannot be used; the message says why. */
export class BaseUrlError extends Error {}

/**
 * Reads a base URL. One rule per dialect: an OpenAI base URL with a path is complete (`https://host/api/v1`), one
 * without gets `/v1`; the others get their version segment unless the base URL ends with it.
 */
export function readBaseUrl(dialect: Dialect, baseUrl: string): Upstream {
  const url = parseUrl(baseUrl);
  if (url.protocol !== 'https:') throw new BaseUrlError('model.baseUrl must begin with https://');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new BaseUrlError('model.baseUrl must hold no user, query or fragment');
  }
  const path = url.pathname.replace(/\/+$/, '');
  // Of the text as written: the parser has resolved encoded dots already.
  if (path.includes('//') || /[%\\]/.test(baseUrl)) throw new BaseUrlError('model.baseUrl must have a plain path');
  const openAi = dialect === 'OpenAIChat' || dialect === 'OpenAIResponses';
  return {
    origin: url.origin,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 443 : Number(url.port),
    prefix: path,
    versioned: openAi ? path !== '' : path.endsWith(versionSegment(dialect)),
  };
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new BaseUrlError('model.baseUrl is not a URL');
  }
}

/** Path and query of a call at the provider. */
export function upstreamPath(dialect: Dialect, upstream: Upstream, call: ModelCall): string {
  const path = upstream.versioned ? call.path.slice(versionSegment(dialect).length) : call.path;
  return `${upstream.prefix}${path}${call.query === '' ? '' : `?${call.query}`}`;
}

/** Whether the `origin` of a Secret is that of the base URL; a missing one never is. */
export function originMatches(secretOrigin: string | undefined, upstream: Upstream): boolean {
  if (secretOrigin === undefined) return false;
  const text = secretOrigin.trim();
  try {
    const url = new URL(text);
    // Only `https://host[:port]`: a path in the value would suggest a narrower binding than there is.
    return url.origin === upstream.origin && /^https:\/\/[^/?#@]+\/?$/.test(text);
  } catch {
    return false;
  }
}
