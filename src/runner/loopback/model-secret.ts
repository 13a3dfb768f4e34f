import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createSecureContext, rootCertificates, type SecureContext} from 'node:tls';
import {SECRET_ORIGIN_KEY} from '../../api/meta.ts';
import {originMatches, type Upstream} from '../../domain/model/url.ts';
import type {Finding, LoopbackOptions} from './ports.ts';

/** What is needed to call the provider. */
export interface ModelSecret {
  /** Empty where the provider takes no key. */
  key: string;
  trusted: SecureContext;
}

/** Certificates to trust, parsed once for each bundle: the well-known ones alone take some 40 ms. */
export class Trust {
  private bundle: string | undefined;
  private context: SecureContext | undefined;

  /** The well-known certificates and those of the bundle; throws where it holds none. */
  of(bundle: string | undefined): SecureContext {
    if (!this.context || this.bundle !== bundle) {
      if (bundle !== undefined && !bundle.includes('-----BEGIN CERTIFICATE-----'))
        throw new Error('no PEM certificate');
      this.context = createSecureContext({ca: [...rootCertificates, ...(bundle === undefined ? [] : [bundle])]});
      this.bundle = bundle;
    }
    return this.context;
  }
}

/** Reads key, origin and certificates anew, because the kubelet updates mounted Secrets in place. */
export async function readModelSecret(
  options: LoopbackOptions,
  upstream: Upstream,
  trust: Trust,
): Promise<ModelSecret | Finding> {
  const {keyFile, caFile} = options.launch.model ?? {};
  const own = caFile === undefined ? undefined : await read(join(options.caFolder, caFile));
  if (caFile !== undefined && own === undefined) {
    return finding('SecretNotFound', `the ConfigMap of model.caBundle lacks the key ${caFile}: add it`);
  }
  const trusted = contextOf(trust, own);
  if (!trusted)
    return finding('SecretNotFound', 'the ConfigMap of model.caBundle holds no PEM certificates: correct it');
  if (keyFile === undefined) return {key: '', trusted};
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
  return {key, trusted};
}

function contextOf(trust: Trust, bundle: string | undefined): SecureContext | undefined {
  try {
    return trust.of(bundle);
  } catch {
    return undefined;
  }
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
