import {connect} from 'node:net';

/** A reply as it stood on the wire. */
export interface RawReply {
  status: number;
  head: string;
  body: string;
}

/** Sends bytes as they are and reads until the server closes: what no HTTP client would send can be sent. */
export async function sendRaw(port: number, text: string, timeoutMs = 5000): Promise<RawReply> {
  return await new Promise((resolve, reject) => {
    const socket = connect({host: '127.0.0.1', port}, () => socket.write(text));
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => socket.destroy(new Error(`no end within ${timeoutMs} ms`)), timeoutMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      const all = Buffer.concat(chunks).toString('latin1');
      const [head = '', ...rest] = all.split('\r\n\r\n');
      resolve({status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n')});
    });
  });
}
