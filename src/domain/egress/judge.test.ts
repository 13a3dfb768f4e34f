import {describe, expect, it} from 'vitest';
import type {AgentSpec} from '../../api/v1alpha1/index.ts';
import {parseAddress, parseRange} from './address.ts';
import {type Ceiling, judgeAddress, parseCeilingEntry} from './ceiling.ts';
import {judgeTarget} from './rules.ts';
import {parseTarget} from './target.ts';

const ranges = (...texts: string[]) => texts.flatMap((text) => parseRange(text) ?? []);
const entries = (...texts: string[]) => texts.flatMap((text) => parseCeilingEntry(text) ?? []);
const closed: Ceiling = {cluster: [], allowed: []};

describe('targets', () => {
  const good: [string, string, number][] = [
    ['API.Example.com:443', 'api.example.com', 443],
    ['api.example.com.:443', 'api.example.com', 443],
    ['1.2.3.4:80', '1.2.3.4', 80],
    ['[2606:4700::1111]:443', '2606:4700::1111', 443],
    ['xn--bcher-kva.example:8443', 'xn--bcher-kva.example', 8443],
  ];
  for (const [text, host, port] of good)
    it(`${text} is taken`, () => expect(parseTarget(text)).toMatchObject({host, port}));

  const bad = [
    'example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:443:443',
    ':443',
    'user@example.com:443',
    'example.com:443/x',
    'http://example.com:443',
    'bücher.example:443',
    'exa mple.com:443',
    '-a.example:443',
    'a..b:443',
    // Addresses in disguise.
    '2130706433:443',
    '0x7f000001:443',
    '0x7f.0.0.1:443',
    '0177.0.0.1:443',
    '017700000001:443',
    '127.1:443',
    '127.0.1:443',
    '1.2.3.4.5:443',
    '256.0.0.1:443',
    '127.0.0.0x1:443',
    'example.1:443',
    '[::1%eth0]:443',
    '[127.0.0.1]:443',
    '::1:443',
    '[::1]',
    '[fe80::1%25eth0]:443',
  ];
  for (const text of bad) it(`${text} is refused`, () => expect(parseTarget(text)).toBeUndefined());
});

describe('addresses under a closed ceiling', () => {
  const refused: [string, string][] = [
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['fd12::1', 'private'],
    ['fec0::1', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['169.254.169.254', 'cloud metadata'],
    ['168.63.129.16', 'cloud metadata'],
    ['100.100.100.200', 'cloud metadata'],
    ['fd00:ec2::254', 'cloud metadata'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:a00:1', 'IPv4-mapped'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['64:ff9b::10.0.0.1', 'NAT64'],
    ['64:ff9b:1::1', 'NAT64'],
    ['2002:a00:1::', '6to4'],
    ['192.88.99.1', '6to4'],
    ['2001::1', 'Teredo'],
    ['192.0.2.1', 'documentation'],
    ['2001:db8::1', 'documentation'],
    ['198.18.0.1', 'benchmarking'],
    ['100::1', 'reserved'],
    ['4000::1', 'reserved'],
  ];
  for (const [text, kind] of refused) {
    it(`${text} is refused as ${kind}`, () => {
      const address = parseAddress(text);
      expect(address && judgeAddress(address, 443, closed)).toMatchObject({
        allowed: false,
        message: expect.stringContaining(kind),
      });
    });
  }
  for (const text of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']) {
    it(`${text} is public`, () => {
      const address = parseAddress(text);
      expect(address && judgeAddress(address, 443, closed)).toEqual({allowed: true});
    });
  }
});

describe('the ceiling', () => {
  const rows: {state: string; address: string; port?: number; ceiling: Partial<Ceiling>; allowed: boolean}[] = [
    {
      state: 'a public address of the cluster is refused',
      address: '34.1.2.3',
      ceiling: {cluster: ranges('34.1.0.0/16')},
      allowed: false,
    },
    {
      state: 'a Service may be opened',
      address: '10.96.0.5',
      ceiling: {cluster: ranges('10.96.0.0/16'), allowed: entries('10.96.0.5/32')},
      allowed: true,
    },
    {
      state: 'an opened port is open',
      address: '10.1.1.1',
      port: 8443,
      ceiling: {allowed: entries('10.1.0.0/16:8443')},
      allowed: true,
    },
    {
      state: 'its other ports are not',
      address: '10.1.1.1',
      port: 443,
      ceiling: {allowed: entries('10.1.0.0/16:8443')},
      allowed: false,
    },
    {
      state: 'IPv6 with a port',
      address: 'fd00::1',
      port: 8443,
      ceiling: {allowed: entries('[fd00::/16]:8443')},
      allowed: true,
    },
    {
      state: 'a mapped address is never opened',
      address: '::ffff:10.1.1.1',
      ceiling: {allowed: entries('::/0', '10.0.0.0/8')},
      allowed: false,
    },
    {state: 'nor is NAT64', address: '64:ff9b::a01:101', ceiling: {allowed: entries('::/0')}, allowed: false},
  ];
  for (const row of rows) {
    it(row.state, () => {
      const address = parseAddress(row.address);
      expect(address && judgeAddress(address, row.port ?? 443, {...closed, ...row.ceiling}).allowed).toBe(row.allowed);
    });
  }
  for (const text of ['10.0.0.0/8:0', '10.0.0.0/8:x', 'fd00::/16:', 'host:443', '']) {
    it(`${text || 'nothing'} is no entry`, () => expect(parseCeilingEntry(text)).toBeUndefined());
  }
});

describe('what an Agent allows', () => {
  const model: AgentSpec['model'] = {
    name: 'm',
    dialect: 'OpenAIChat',
    baseUrl: 'https://Models.example.com/v1',
    proxy: 'Loopback',
  };
  const egress = [
    {host: 'api.github.com'},
    {host: '*.example.org', ports: [443, 8443]},
    {cidr: '10.2.0.0/16', ports: [5432]},
    {cidr: '2001:4860::/32'},
  ];
  const rows: [purpose: 'model' | 'agent', target: string, allowed: boolean][] = [
    ['model', 'models.example.com:443', true],
    ['model', 'models.example.com:8443', false],
    ['model', 'api.github.com:443', false],
    ['model', 'sub.models.example.com:443', false],
    ['agent', 'models.example.com:443', false],
    ['agent', 'api.github.com:443', true],
    ['agent', 'API.GITHUB.COM.:443', true],
    ['agent', 'api.github.com:80', false],
    ['agent', 'evil-api.github.com:443', false],
    ['agent', 'a.example.org:443', true],
    ['agent', 'a.b.example.org:8443', true],
    ['agent', 'example.org:443', false],
    ['agent', 'notexample.org:443', false],
    ['agent', '10.2.3.4:5432', true],
    ['agent', '10.2.3.4:443', false],
    ['agent', '10.3.3.4:5432', false],
    ['agent', '[2001:4860::8888]:443', true],
    ['agent', '[::ffff:10.2.3.4]:5432', false],
  ];
  for (const [purpose, text, allowed] of rows) {
    it(`${purpose} ${allowed ? 'reaches' : 'does not reach'} ${text}`, () => {
      const target = parseTarget(text);
      expect(target && judgeTarget({model, network: {egress}}, purpose, target).allowed).toBe(allowed);
    });
  }

  it.each([
    ['https://[2606:4700::1111]:8443/v1', '[2606:4700::1111]:8443', true],
    ['https://[2606:4700::1111]', '[2606:4700:0:0:0:0:0:1111]:443', true],
    ['https://[2606:4700::1111]', '[2606:4700::1112]:443', false],
    ['https://[2606:4700::1111]', '[2606:4700::1111]:8443', false],
    ['https://9.9.9.9', '9.9.9.9:443', true],
    ['https://9.9.9.9', '[::ffff:9.9.9.9]:443', false],
    ['https://api.example.', 'api.example:443', true],
  ])('of a model at %s: %s %s', (baseUrl, text, allowed) => {
    const target = parseTarget(text);
    const spec = {
      model: {name: 'm', dialect: 'Gemini' as const, proxy: 'Loopback' as const, baseUrl},
      network: {egress: []},
    };
    expect(target && judgeTarget(spec, 'model', target).allowed).toBe(allowed);
  });

  it('is named in the refusal', () => {
    const target = parseTarget('evil.example:443');
    const verdict = target && judgeTarget({model, network: {egress}}, 'agent', target);
    expect(verdict).toMatchObject({
      message: expect.stringMatching(/evil\.example:443 .*api\.github\.com:443 \*\.example\.org:443,8443/),
    });
    expect(target && judgeTarget({model: undefined, network: {egress: []}}, 'model', target)).toMatchObject({
      message: expect.stringContaining('no model'),
    });
  });
});
