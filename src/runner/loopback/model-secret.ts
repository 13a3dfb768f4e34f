import {X509Certificate} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {SecureContext} from 'node:tls';
import {SECRET_ORIGIN_KEY} from '../../api/meta.ts';
import {type KeyPlace, sayMissingKey} from '../../domain/model/missing.ts';
import {originMatches, type Upstream} from '../../domain/model/url.ts';
import type {Finding, LoopbackOptions} from './ports.ts';
import {tls} from './tls.ts';

/** What is needed to call the provider. */
export interface ModelSecret {
  /** Empty where the provider takes no key. */
  key: string;
  trusted(): SecureContext;
}

/** Certificates to trust, parsed once for each bundle and not before they are used: the well-known ones alone take some 40 ms. */
export class Trust {
  private bundle: string | undefined;
  private context: SecureContext | undefined;

  /** The well-known certificates and those of the bundle. */
  of(bundle: string | undefined): SecureContext {
    if (!this.context || this.bundle !== bundle) {
      const {createSecureContext, rootCertificates} = tls();
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
  const {keyFile, caFile, keyFrom, caFrom} = options.launch.model ?? {};
  const own = caFile === undefined ? undefined : await read(join(options.caFolder, caFile));
  const bundle =
    caFrom === undefined ? 'the ConfigMap of model.caBundle' : `the ConfigMap "${caFrom.configMap}" of model.caBundle`;
  if (caFile !== undefined && own === undefined) {
    const lacking = `${bundle} does not exist in namespace ${options.namespace}, or lacks the key "${caFrom?.key ?? caFile}"`;
    return finding('SecretNotFound', `${lacking}: create it, or add the key`);
  }
  if (own !== undefined && !holdsCertificates(own))
    return finding('SecretNotFound', `${bundle} holds no PEM certificates that can be read: correct it`);
  const trusted = () => trust.of(own);
  if (keyFile === undefined) return {key: '', trusted};
  const place = {
    namespace: options.namespace,
    secret: keyFrom?.secret ?? '<name>',
    key: keyFrom?.key ?? keyFile,
    origin: upstream.origin,
  };
  const key = await readKey(options.secretsFolder, keyFile, place, upstream);
  return typeof key === 'string' ? {key, trusted} : key;
}

async function readKey(
  folder: string,
  keyFile: string,
  place: KeyPlace,
  upstream: Upstream,
): Promise<string | Finding> {
  const mounted = {key: await read(join(folder, keyFile)), origin: await read(join(folder, SECRET_ORIGIN_KEY))};
  const key = mounted.key?.trim() ?? '';
  const lacking = sayMissingKey(place, mounted);
  if (lacking !== undefined) return finding(key === '' ? 'SecretNotFound' : 'OriginMismatch', lacking);
  const named = `the Secret "${place.secret}" of model.key`;
  // A line break or a control character in a header value would be refused by Node with the value in the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return finding('SecretNotFound', `the value of "${place.key}" in ${named} is no plain text: correct it`);
  }
  if (originMatches(mounted.origin, upstream)) return key;
  const expected = `its value ${SECRET_ORIGIN_KEY} must be ${upstream.origin}, or correct model.baseUrl`;
  return finding('OriginMismatch', `${named} is bound to another origin: ${expected}`);
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** At least one certificate, and none that cannot be read: what is trusted must be what was meant. */
function holdsCertificates(bundle: string): boolean {
  try {
    return (bundle.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem)).length > 0;
  } catch {
    return false;
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
