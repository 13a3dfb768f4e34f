import {request} from 'node:http';
import {isIP, type Socket} from 'node:net';
import type {SecureContext, TLSSocket} from 'node:tls';
import {z} from 'zod';
import {PURPOSE, PURPOSE_HEADER} from '../../api/wire/egress.ts';
import {parseJson} from '../../domain/model/failure.ts';
import type {Endpoint, Tokens} from './ports.ts';
import {tls} from './tls.ts';

/** How to get out of the pod. */
export interface Relay {
  egress: Endpoint;
  tokens: Tokens;
}

/** The relay or the host behind it did not let a connection through. */
export class RelayError extends Error {
  /** Status of the relay; 502 where it could not be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Milliseconds until a tunnel must stand, and until TLS must be agreed upon in it. */
const CONNECT_TIMEOUT = 15_000;

/** `host:port`, with brackets where an IPv6 address needs them. */
export function authority(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Opens a tunnel through the egress relay; the caller owns the socket. */
export async function openTunnel(relay: Relay, purpose: keyof typeof PURPOSE, target: string): Promise<Socket> {
  const token = await relay.tokens.read('egress');
  return await new Promise((resolve, reject) => {
    const call = request({
      host: relay.egress.host,
      port: relay.egress.port,
      method: 'CONNECT',
      path: target,
      headers: {host: target, 'proxy-authorization': `Bearer ${token}`, [PURPOSE_HEADER]: PURPOSE[purpose]},
      agent: false,
    });
    const timer = setTimeout(() => call.destroy(new Error(`no answer in ${CONNECT_TIMEOUT} ms`)), CONNECT_TIMEOUT);
    call.on('connect', (response, socket, head) => {
      clearTimeout(timer);
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        socket.setNoDelay(true);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refusal(target, response.statusCode ?? 502, head));
    });
    call.on('error', (error) => {
      clearTimeout(timer);
      reject(new RelayError(502, `cannot reach ${target} through the egress relay: ${error.message}`));
    });
    call.end();
  });
}

/** Body of a refusal of the relay. */
const Said = z.object({code: z.string(), message: z.string()});

function refusal(target: string, status: number, body: Buffer): RelayError {
  const text = body.toString('utf8');
  const said = Said.safeParse(parseJson(text)).data;
  const words = said ? `${said.code}: ${said.message}` : `${status} ${text}`;
  // It ends in a header-less reply and in logs: plain characters, one line.
  const plain = words
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 300)
    .trim();
  return new RelayError(status, `the egress relay refused ${target}: ${plain}`);
}

/** TLS to a host inside a tunnel, checked against the given certificates; the relay sees ciphertext only. */
export async function openTls(tunnel: Socket, host: string, trusted: SecureContext): Promise<TLSSocket> {
  return await new Promise((resolve, reject) => {
    // SNI is for names; the certificate is compared with `host` in both cases.
    const name = isIP(host) === 0 ? {servername: host} : {};
    const socket = tls().connect({socket: tunnel, host, secureContext: trusted, ALPNProtocols: ['http/1.1'], ...name});
    const timer = setTimeout(() => socket.destroy(new Error(`no TLS in ${CONNECT_TIMEOUT} ms`)), CONNECT_TIMEOUT);
    const fail = (error: Error) => {
      clearTimeout(timer);
      tunnel.destroy();
      reject(new RelayError(502, `TLS with ${host} failed: ${error.message}`));
    };
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
