import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {isIP} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** PEM texts of a server and of the authority that signed it. */
export interface Certificate {
  ca: string;
  cert: string;
  key: string;
}

/** Makes an authority of its own and one server certificate for the names and addresses; needs `openssl` on the PATH. */
export async function makeCertificate(hosts: readonly string[]): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-ca-'));
  try {
    const at = (name: string) => join(folder, name);
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const ca = ['-x509', '-keyout', at('ca.key'), '-out', at('ca.crt'), '-days', '30', '-subj', '/CN=model stub CA'];
    await run('openssl', ['req', ...ec, ...ca, '-addext', 'basicConstraints=critical,CA:TRUE']);
    await run('openssl', ['req', ...ec, '-keyout', at('key'), '-out', at('csr'), '-subj', '/CN=model stub']);
    const names = hosts.map((host) => `${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`).join(',');
    await writeFile(at('ext'), `subjectAltName=${names}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n`);
    const signer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('ext')];
    await run('openssl', ['x509', '-req', '-in', at('csr'), '-out', at('crt'), '-days', '30', ...signer]);
    const [caText, cert, key] = await Promise.all(['ca.crt', 'crt', 'key'].map((name) => readFile(at(name), 'utf8')));
    return {ca: caText ?? '', cert: cert ?? '', key: key ?? ''};
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}
