import {describe, expect, it} from 'vitest';
import {ACCOUNT_UID, pod, READY, seenWithPod, session} from '../../../test/support/session-objects.ts';
import {MAX_MESSAGE_BYTES} from '../status-size.ts';
import {addressMoved, moved, movedText} from './address.ts';

const at = (gateway: string, egress: string) => ({addresses: {gateway, egress}});

/** Where a pod was told both to be, where they are, and what is said of it. */
const MOVES: Record<string, {told?: [string, string]; are: [string, string]; says: string}> = {
  neither: {are: ['10.0.0.1', '10.0.0.2'], says: ''},
  'the gateway': {are: ['10.0.0.9', '10.0.0.2'], says: 'the gateway moved from 10.0.0.1 to 10.0.0.9'},
  'the gateway, to an address that begins with the one before': {
    are: ['10.0.0.11', '10.0.0.2'],
    says: 'the gateway moved from 10.0.0.1 to 10.0.0.11',
  },
  'the relay': {are: ['10.0.0.1', '10.0.0.9'], says: 'the egress relay moved from 10.0.0.2 to 10.0.0.9'},
  both: {
    are: ['10.0.0.2', '10.0.0.1'],
    says: 'the gateway moved from 10.0.0.1 to 10.0.0.2 and the egress relay moved from 10.0.0.2 to 10.0.0.1',
  },
  'neither, with IPv6': {told: ['fd00::1', 'fd00::2'], are: ['fd00::1', 'fd00::2'], says: ''},
  'the relay, with IPv6': {
    told: ['fd00::1', 'fd00::2'],
    are: ['fd00::1', 'fd00::9'],
    says: 'the egress relay moved from fd00::2 to fd00::9',
  },
};

const says = (seen: ReturnType<typeof seenWithPod>, closes = false) => addressMoved(seen, closes)[0]?.message ?? '';

describe('addresses that a pod was told', () => {
  it.each(Object.entries(MOVES))(
    'what moved: %s',
    (_name, {told: [gateway, egress] = ['10.0.0.1', '10.0.0.2'], ...row}) => {
      const present = pod({phase: 'Running'}, {input: {...at(gateway, egress), accountUid: ACCOUNT_UID}});
      const seen = seenWithPod({}, {...at(...row.are), pod: {kind: 'Present', pod: present}});
      expect(movedText(seen)).toBe(row.says);
      expect(moved(seen)).toBe(row.says !== '');
    },
  );

  it('the gateway: the address from before comes first, restart only after it', () => {
    const message = says(seenWithPod({}, at('10.0.0.9', '10.0.0.2')));
    expect(message).toMatch(
      /in namespace carrel-system, make anew Service carrel-gateway with spec.clusterIP 10\.0\.0\.1\. Only if .* unknown.*"restart":1/,
    );
  });

  it('the gateway, while the session closes: nothing is said of restart, which does nothing there', () => {
    const message = says(seenWithPod({}, at('10.0.0.9', '10.0.0.2')), true);
    expect(message).toMatch(/spec.clusterIP 10\.0\.0\.1\. Only if .*"desired":"Cancelled"/);
    expect(message).not.toContain('restart');
  });

  it.each([false, true])('the relay alone: nothing that would end a turn that is well (closes: %s)', (closes) => {
    const message = says(seenWithPod({}, at('10.0.0.1', '10.0.0.9')), closes);
    expect(message).toContain(
      'in namespace carrel-system, make anew Service carrel-egress with spec.clusterIP 10.0.0.2',
    );
    expect(message).not.toContain('kubectl');
  });

  it('the longest names and addresses leave the command whole', () => {
    const one = session(READY);
    const metadata = {...one.metadata, name: 'n'.repeat(63), namespace: 'm'.repeat(63)};
    const long = (last: string) => `fd00:1111:2222:3333:4444:5555:6666:777${last}`;
    const told = pod({phase: 'Running'}, {input: {...at(long('1'), long('2'))}});
    const names = {namespace: 's'.repeat(63), gateway: 'g'.repeat(63), egress: 'e'.repeat(63)};
    const seen = seenWithPod({}, {...at(long('3'), long('4')), pod: {kind: 'Present', pod: told}});
    const {settings} = seen;
    const longest = {...seen, session: {...one, metadata}, settings: {...settings, services: names}};
    for (const closes of [false, true]) {
      expect(Buffer.byteLength(JSON.stringify(says(longest, closes)))).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    }
  });
});
