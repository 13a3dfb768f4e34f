import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {rootCertificates} from 'node:tls';
import {SECRET_ORIGIN_KEY} from '../../api/meta.ts';
import {originMatches, type Upstream} from '../../domain/model/url.ts';
import type {Finding, LoopbackOptions} from './ports.ts';

/** What is needed to call the provider. */
export interface ModelSecret {
  /** Empty where the provider takes no key. */
  key: string;
  ca: string[];
}

/** Reads key, origin and certificates anew, because the kubelet updates mounted Secrets in place. */
export async function readModelSecret(options: LoopbackOptions, upstream: Upstream): Promise<ModelSecret | Finding> {
  const {keyFile, caFile} = options.launch.model ?? {};
  const own = caFile === undefined ? undefined : await read(join(options.caFolder, caFile));
  if (caFile !== undefined && own === undefined) {
    return finding('SecretNotFound', `the ConfigMap of model.caBundle lacks the key ${caFile}: add it`);
  }
  const ca = [...rootCertificates, ...(own === undefined ? [] : [own])];
  if (keyFile === undefined) return {key: '', ca};
  const key = (await read(join(options.secretsFolder, keyFile)))?.trim();
  if (key === undefined || key === '') {
    return finding('SecretNotFound', `the Secret of model.key lacks the key ${keyFile}, or it is empty: add it`);
  }
  // A line break or a control character in a header value would be refused by Node with the value in the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return finding('SecretNotFound', `the value of ${keyFile} in the Secret of model.key is no plain text: correct it`);
  }
  const origin = await read(join(options.secretsFolder, SECRET_ORIGIN_KEY));
  if (!originMatches(origin, upstream)) {
    const said = origin === undefined ? 'has no origin' : 'is bound to another origin';
    return finding(
      'OriginMismatch',
      `the Secret of model.key ${said}: its value ${SECRET_ORIGIN_KEY} must be ${upstream.origin}, or correct model.baseUrl`,
    );
  }
  return {key, ca};
}

function finding(reason: string, message: string): Finding {
  return {type: 'Stalled', reason, message};
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
