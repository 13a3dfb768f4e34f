/** Where somebody wants the image to go. */
export interface Destination {
  /** `host` or `host:port`. */
  registry: string;
  repository: string;
  /** Plain HTTP, or a certificate that this machine does not trust, is good enough. */
  insecure: boolean;
}

const HOW = 'write npm run image -- <registry>/<repository>, for example npm run image -- registry.example/team/carrel';
const LETTERS = 'which has lower-case letters and digits, . _ - between them, and / between its parts';
const HOST = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:[0-9]{1,5})?$/i;
const REPOSITORY = /^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/** Reads the arguments of `npm run image`; what is wrong with them is thrown in words. */
export function readDestination(args: readonly string[]): Destination {
  const unknown = args.filter((arg) => arg.startsWith('-') && arg !== '--insecure');
  if (unknown.length > 0) throw new Error(`${unknown.join(' ')} is not known, the only option is --insecure; ${HOW}`);
  const [given, ...more] = args.filter((arg) => arg !== '--insecure');
  if (given === undefined || given === '') throw new Error(`no repository is given; ${HOW}`);
  if (more.length > 0) throw new Error(`one repository is wanted, not ${[given, ...more].join(' and ')}; ${HOW}`);
  return {...split(given), insecure: args.includes('--insecure')};
}

function split(given: string): {registry: string; repository: string} {
  const refuse = (why: string): never => {
    throw new Error(`${given}: ${why}; ${HOW}`);
  };
  const scheme = /^[a-z]+:\/\//i.exec(given)?.[0];
  if (scheme !== undefined) refuse(`a repository has no scheme, leave out ${scheme}`);
  if (given.includes('@')) refuse(`the digest is what the build gives, leave out ${given.slice(given.indexOf('@'))}`);
  const slash = given.indexOf('/');
  const registry = slash === -1 ? given : given.slice(0, slash);
  // As Docker does: a first part without a dot, a port or the name localhost is not a host.
  if (slash === -1 || !(/[.:]/.test(registry) || registry === 'localhost') || !HOST.test(registry))
    refuse('a registry (host or host:port), a slash and a repository are wanted');
  const repository = given.slice(slash + 1);
  const colon = repository.indexOf(':');
  if (colon !== -1)
    refuse(`the image gets a tag of its own and is installed by digest, leave out ${repository.slice(colon)}`);
  if (!REPOSITORY.test(repository))
    refuse(`${repository === '' ? 'an empty repository is none' : `${repository} is no repository`}, ${LETTERS}`);
  return {registry, repository};
}
